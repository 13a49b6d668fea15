// What the server is asked. Every answer is JSON; an error is a sentence.

const token = new URLSearchParams(location.search).get("token") ?? sessionStorage.getItem("token");
if (token) sessionStorage.setItem("token", token);

export async function ask(path, parameters = {}, signal) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(name, one);
    }
  }
  let response;
  try {
    response = await fetch(`/api/${path}?${query}`, { signal, headers: token ? { "X-Token": token } : {} });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer: is `composita explore` still running?");
  }
  let found;
  try {
    found = await response.json();
  } catch {
    throw new Error(`The server answered ${response.status} without a reason.`);
  }
  if (!response.ok) throw new Error(found.error ?? `The server answered ${response.status}.`);
  return found;
}
