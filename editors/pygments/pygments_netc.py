"""A Pygments lexer for netc's .net files.

Made from pygments_netc.py.in and the tables of netc: make docs.
"""
from pygments.lexer import RegexLexer, bygroups, default, include
from pygments.token import (Comment, Keyword, Name, Number, Operator,
                            Punctuation, String, Whitespace)

__all__ = ["NetcLexer"]

KEYWORDS = """
    net input fork from again output def let param repeat for in if else use
    train infer budget
""".split()
OPERATORS = "and or not".split()
CONSTANTS = "true false".split()
HEADS = "freeze checkpoint error warn allow".split()
LAYERS = """
    conv dwconv deconv deformconv local pool avgpool gap gmp adaptpool
    adaptmaxpool unpool roialign roipool mean sum fc linear bn instnorm gn
    ln rmsnorm lrn l2norm relu relu6 leaky elu selu celu prelu gelu glu silu
    mish sigmoid hsigmoid hswish tanh softplus softsign hardtanh softmax
    logsoftmax identity sqrt exp log sin cos abs neg pow dropout droppath
    flatten reshape permute slice split crop detach topk gather pad roll
    shuffle pixelshuffle space2depth unfold up gridsample scale affine
    weight add sub mul div max min concat stack matmul embed posembed
    distances token attention mla cached deformattn moe ssm deltanet rnn
    lstm gru convlstm
""".split()
OPTIONS = """
    pad bias nobias wnorm spectral ws gain dora ceil indices aligned keep
    noaffine within shared causal smallest zeros reflect replicate circular
    nearest bilinear bicubic border reflection corners fixed list transpose
    buffer rope packed views sbhd noout noqueries novalues uncached vnorm
    qknorm qkln sinks talking fused naive bidir batch_first last keepcell
    frozen
""".split()
CHOOSERS = """
    lora_dtype approximate bias gate scale lora_on scores norm decay reset
    inplace dtype like optimizer update clip paged ema precision
    gradient_dtype saved_dtype base loss loss_dtype rule norms attention
    profile glu keep_gradients keep_outputs checkpoint gpu gather unit
    reshard prefetch bucket offload moe sequence_parallel keep_gathered
    flat_gather schedule cut runtime board weight_dtype fold fuse overlap
    patches stream cache cache_v state_dtype step flash sampler gpu_layers
    tensor_split host_experts fits
""".split()
FUNCTIONS = "min max floor ceil round sqrt log2 divisible".split()

NAME = r"(?:[A-Za-z]|_[0-9A-Za-wyz_]|_x[A-Za-z])\w*"


def one_of(words, after=r"\b"):
    return r"\b(?:" + "|".join(words) + ")" + after


class NetcLexer(RegexLexer):
    """Neural-network architectures as netc compiles them."""

    name = "netc"
    aliases = ["netc"]
    filenames = ["*.net"]
    mimetypes = ["text/x-netc"]

    tokens = {
        # Where a statement begins: `fork`, a label, then its first word.
        "root": [
            (r"\s+", Whitespace),
            (r"#.*", Comment.Single),
            (r"[;{]", Punctuation),
            (r"(fork)(\s+)(train)\b", bygroups(Keyword, Whitespace, Keyword)),
            (r"fork\b", Keyword),
            (NAME + r"(?=(?:\[[^\]]*\])*\s*:)", Name.Label, "label"),
            (one_of(HEADS), Keyword, "rest"),
            (one_of(LAYERS), Name.Function, "rest"),
            ("(?!" + one_of(KEYWORDS) + ")" + NAME, Name.Class.Call, "rest"),
            default("rest"),
        ],
        "label": [
            (r"\[", Punctuation, "brackets"),
            (r"[ \t]+", Whitespace),
            (r":", Punctuation, "#pop"),
        ],
        # Its arguments and its tail.
        "rest": [
            (r"\\[ \t]*(?=#|\r?$)", Operator, "continued"),
            (r"\r?\n", Whitespace, "#pop"),
            (r"[;{]", Punctuation, "#pop"),
            include("inner"),
        ],
        "continued": [
            (r"#.*", Comment.Single),
            (r"\r?\n[ \t]*", Whitespace, "#pop"),
            default("#pop"),
        ],
        # Inside these no line begins a statement.
        "brackets": [
            (r"\s+", Whitespace),
            (r"[\])]", Punctuation, "#pop"),
            (r"[;{]", Punctuation),
            include("inner"),
        ],
        "inner": [
            (r"[ \t]+(?=:)", Whitespace, "type"),
            (r"[ \t]+", Whitespace),
            (r"#.*", Comment.Single),
            (r'"', String.Double, "string"),
            include("names"),
            include("words"),
            (r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?[eE][+-][0-9]+", Number, "join"),
            (r"[0-9][0-9A-Za-wyz_]*(?:\.(?!\.)[0-9A-Za-wyz_]*)?", Number,
             "join"),
            (r"_", Name.Constant, "join"),
            (r"[\[(]", Punctuation, "brackets"),
            (r"[\])}]", Punctuation, "join"),
            (r"->|\.\.|[-+*/%<>=!]+", Operator),
            (r"\.(?=[A-Za-z_])", Punctuation, "field"),
            (r"[,.:;\\]|\r", Punctuation),
        ],
        # `3x3`: the sign comes right after a number or a bracket.
        "join": [
            (r"x(?=[0-9_(])", Operator, "#pop"),
            default("#pop"),
        ],
        "field": [(r"\w+", Name.Property, "#pop")],
        "type": [
            (r"(:)(\s*)(" + NAME + ")",
             bygroups(Punctuation, Whitespace, Keyword.Type), "#pop"),
            (r":", Punctuation, "#pop"),
        ],
        # What comes after these words is a name.
        "names": [
            (r"\b(def)(\s+)(" + NAME + ")",
             bygroups(Keyword, Whitespace, Name.Class)),
            (r"\b(let|net|output|from|again)(\s+)(" + NAME + ")",
             bygroups(Keyword, Whitespace, Name)),
            (r"\b(input)(\s+)(?!in\b)(" + NAME + r")(?=\s+(?!x\b)[\w(])",
             bygroups(Keyword, Whitespace, Name.Label)),
            (r"\b(?:param|for)\b", Keyword, "defined"),
        ],
        "defined": [
            (r"[ \t]+", Whitespace),
            (r"(?!in\b)" + NAME, Name),
            default("#pop"),
        ],
        "words": [
            (r"(?<=[\w)\]][ \t])x(?=[ \t]*[\w(-])(?![ \t]*\w+=[^=])", Operator),
            ("(" + one_of(CHOOSERS, ")(=)(?!" + one_of(CONSTANTS) + ")(")
             + NAME + ")",
             bygroups(Name.Attribute, Operator, Name.Constant)),
            (one_of(KEYWORDS), Keyword),
            (one_of(OPERATORS), Keyword),
            (one_of(CONSTANTS), Keyword.Constant),
            (r"\bstep\b(?=\s*[0-9(-])", Keyword),
            (NAME + r"(?==(?!=))", Name.Attribute),
            (one_of(FUNCTIONS, r"(?=\()"), Name.Builtin),
            (one_of(OPTIONS, r"\b(?![(\[.])"), Name.Attribute),
            (one_of(LAYERS, r"\b(?!\s*[:\[.])"), Name.Function),
            (NAME, Name),
        ],
        "string": [
            (r"\{\{|\}\}", String.Escape),
            (r"\{[^{}\"\n]*\}", String.Interpol),
            (r'"|(?=\n)', String.Double, "#pop"),
            (r'[^"{}\n]+|[{}]', String.Double),
        ],
    }
