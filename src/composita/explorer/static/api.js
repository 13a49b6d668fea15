// What the server is asked. Every answer is JSON; an error is a sentence.

const here = new URL(location.href);
const token = here.searchParams.get("token") ?? sessionStorage.getItem("token");
if (token) sessionStorage.setItem("token", token);
if (here.searchParams.has("token")) {
  // The address is for bookmarks and for others, the token is not.
  here.searchParams.delete("token");
  history.replaceState({}, "", here);
}

const TRIES = 60;
let page = new AbortController();

/** Give up what was asked for the page that is left. */
export function leave() {
  page.abort();
  page = new AbortController();
}

/** Wait, unless the page is left. */
export function pause(milliseconds, signal = page.signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

export const isLeft = (error) => error?.name === "AbortError";

/** The part of an address behind the question mark; parameters without a value are left out. */
export function query(parameters) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") found.append(name, one);
    }
  }
  return found.toString();
}

/** Ask, and ask again as long as the server is learning what it needs. */
export async function ask(path, parameters = {}, signal = page.signal) {
  for (let tries = 1; ; tries += 1) {
    let response;
    try {
      response = await fetch(`/api/${path}?${query(parameters)}`, { signal, headers: token ? { "X-Token": token } : {} });
    } catch (error) {
      if (isLeft(error)) throw error;
      throw new Error("The server does not answer: is `composita explore` still running?");
    }
    let found;
    try {
      found = await response.json();
    } catch (error) {
      if (isLeft(error)) throw error;
      throw new Error(`The server answered ${response.status} without a reason.`);
    }
    if (response.ok) return found;
    const seconds = Number(response.headers.get("Retry-After"));
    if (!seconds || tries === TRIES) throw new Error(found.error ?? `The server answered ${response.status}.`);
    await pause(seconds * 1000, signal);
  }
}
