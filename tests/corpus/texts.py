"""Small texts for tests, in every format."""

CONLLU = (
    "# newdoc\n"
    "# text = The dogs, don't you know, chase #1 cats\n"
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2\tdogs\tdog\tNOUN\tNNS\t_\t5\tnsubj\t_\t_\n"
    "3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\tdo\tdo\tAUX\tVBP\t_\t5\taux\t_\t_\n"
    "4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_\n"
    "4.1\tghost\tghost\tVERB\tVB\t_\t_\t_\t5:x\t_\n"
    "5\tchase\tchase\tVERB\tVB\t_\t0\troot\t_\t_\n"
    '6\t"\t"\tPUNCT\t``\t_\t7\tpunct\t_\t_\n'
    "7\tcafés\tcafé\tNOUN\tNNS\t_\t5\tobj\t_\tSpaceAfter=No\n"
    "8\t#\t#\tSYM\t#\t_\t7\tdep\t_\t_\n"
    "\n"
    "1\tNo\tno\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2\troot\troot\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    "3\ttwo\ttwo\tNUM\tCD\t_\t0\troot\t_\t_\n"
    "\n"
).encode()

CONLLX = (
    b"1\tDogs\tdog\tN\tNNS\t_\t2\tSBJ\n"
    b"2\tbark\tbark\tV\tVBP\t_\t0\tROOT\t_\t_\n"
    b"3\t#\t#\t#\t#\t_\t2\tP\t_\n"
    b"\n"
    b"1\tYes\tyes\tUH\tUH\t_\t0\tROOT\t_\t_\n"
)

WACKY = (
    '<text id="ukwac:http://example.org/a,b">\n'
    "<s>\n"
    "Portsmouth\tPortsmouth\tNP\t1\t2\tSBJ\n"
    "are\tbe\tVBP\t2\t0\tROOT\n"
    "#\t#\t#\t3\t2\tP\n"
    "<\t<\tSYM\t4\t2\tP\n"
    '"\t"\t``\t5\t2\tP\n'
    "naïve\tnaïve\tJJ\t6\t0\tROOT\n"
    "</s>\n"
    "<s>\n"
    "Yes\tyes\tUH\t1\t0\tROOT\n"
    "</s>\n"
    "</text>\n"
).encode()

TEXTS = {"conllu": CONLLU, "conllx": CONLLX, "wacky": WACKY}


def sentence(*words, relation="root"):
    """A CoNLL-U sentence whose words all hang on the first."""
    lines = [
        f"{i}\t{word}\t{word.lower()}\tNOUN\tNN\t_\t{0 if i == 1 else 1}\t{relation if i == 1 else 'dep'}\t_\t_\n"
        for i, word in enumerate(words, 1)
    ]
    return ("".join(lines) + "\n").encode()
