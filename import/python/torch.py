# Classes and functions of PyTorch, for sources of modules: the call of ATen
# that each makes, and the sizes of its result. `_aten(name, sizes,
# type, ...)` notes a call; names with `_` in front are netc's own. Arguments
# and their usual values are those of pytorch.org/docs/stable.

float32 = "float32"
float = "float32"
float64 = "float32"
double = "float32"
float16 = "float32"
half = "float32"
bfloat16 = "float32"
long = "int64"
int64 = "int64"
int32 = "int64"
int = "int64"
bool = "bool"
strided = "strided"
contiguous_format = "contiguous"
channels_last = "contiguous"
_math_pi = 3.141592653589793
_math_inf = 1e400
_math_e = 2.718281828459045
inf = 1e400
pi = 3.141592653589793
newaxis = None
__version__ = "2.6.0"
enabled = True


# Sizes

def _list(value, count):
    if isinstance(value, (list, tuple)):
        if len(value) == 1:
            return list(value) * count
        if len(value) != count:
            raise ValueError("%d numbers where %d are needed" % (len(value),
                    count))
        return list(value)
    return [value] * count


def _sizes(sizes):
    if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)):
        return list(sizes[0])
    return list(sizes)


def _axis(x, dim):
    rank = len(x.shape)
    if dim < 0:
        dim = dim + rank
    if dim < 0 or dim >= rank:
        raise ValueError("a tensor with %d axes has no axis %d" % (rank, dim))
    return dim


def _window(size, kernel, stride, padding, dilation, ceil):
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    if span < 0:
        raise ValueError("a window of %d does not fit into %d values"
                % (kernel, size))
    count = span // stride + 1
    if ceil and span % stride and count * stride < size + padding:
        count += 1
    return count


def _joined(a, b):
    x = a.shape if _is_tensor(a) else ()
    y = b.shape if _is_tensor(b) else ()
    return _broadcast(x, y)


def _kind(a, b):
    for x in (a, b):
        if _is_tensor(x) and x.dtype == "float32":
            return "float32"
    for x in (a, b):
        if not _is_tensor(x) and isinstance(x, _float):
            return "float32"
    return a.dtype if _is_tensor(a) else b.dtype


def _nothing(*args, **kwargs):
    return None


def _first(tensor, *args, **kwargs):
    return tensor


def _over(function, x, *args, **kwargs):
    return _become(x, function(x, *args, **kwargs))


def _sized(x):
    if _is_open(x):
        _ask(x)
    return x


# Layers with weights

def _conv(name, input, weight, bias, stride, padding, dilation, groups):
    axes = len(weight.shape) - 2
    channels = weight.shape[1] * groups
    if _is_open(input):
        _ask(input, ["LENGTHx%d", "HEIGHTxWIDTHx%d",
                "DEPTHxHEIGHTxWIDTHx%d"][axes - 1] % channels)
    if axes == 1:
        _channels_first(input)
    if len(input.shape) != axes + 2:
        raise ValueError("%s needs a tensor with %d axes, but gets sizes %s"
                % (name, axes + 2, input.shape))
    if not _fits(input.shape[1], channels):
        raise ValueError("%s needs %d channels, but gets sizes %s" % (name,
                channels, input.shape))
    stride = _list(stride, axes)
    dilation = _list(dilation, axes)
    kernel = list(weight.shape[2:])
    sizes = [input.shape[0], weight.shape[0]]
    if isinstance(padding, str):
        for i in range(axes):
            pad = dilation[i] * (kernel[i] - 1) if padding == "same" else 0
            sizes.append(_window(input.shape[2 + i] + pad, kernel[i],
                    stride[i], 0, dilation[i], False))
    else:
        padding = _list(padding, axes)
        for i in range(axes):
            sizes.append(_window(input.shape[2 + i], kernel[i], stride[i],
                    padding[i], dilation[i], False))
    return _aten(name, sizes, None, input=input, weight=weight, bias=bias,
            stride=stride, padding=padding,
                 dilation=dilation, groups=groups)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1,
        groups=1):
    return _conv("conv1d", input, weight, bias, stride, padding, dilation,
            groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1,
        groups=1):
    return _conv("conv2d", input, weight, bias, stride, padding, dilation,
            groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1,
        groups=1):
    return _conv("conv3d", input, weight, bias, stride, padding, dilation,
            groups)


def _deconv(name, input, weight, bias, stride, padding, output_padding, groups,
        dilation):
    axes = len(weight.shape) - 2
    if _is_open(input):
        _ask(input, ["LENGTHx%d", "HEIGHTxWIDTHx%d",
                "DEPTHxHEIGHTxWIDTHx%d"][axes - 1] % weight.shape[0])
    if axes == 1:
        _channels_first(input)
    if len(input.shape) != axes + 2 or not _fits(input.shape[1],
            weight.shape[0]):
        raise ValueError("%s needs %d channels and %d axes, but gets sizes %s"
                % (
            name, weight.shape[0], axes + 2, input.shape))
    stride = _list(stride, axes)
    padding = _list(padding, axes)
    more = _list(output_padding, axes)
    dilation = _list(dilation, axes)
    sizes = [input.shape[0], weight.shape[1] * groups]
    for i in range(axes):
        sizes.append((input.shape[2 + i] - 1) * stride[i] - 2 * padding[i] +
                     dilation[i] * (weight.shape[2 + i] - 1) + more[i] + 1)
    return _aten(name, sizes, None, input=input, weight=weight, bias=bias,
            stride=stride, padding=padding,
                 output_padding=more, groups=groups, dilation=dilation)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0,
        output_padding=0, groups=1, dilation=1):
    return _deconv("conv_transpose1d", input, weight, bias, stride, padding,
            output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0,
        output_padding=0, groups=1, dilation=1):
    return _deconv("conv_transpose2d", input, weight, bias, stride, padding,
            output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0,
        output_padding=0, groups=1, dilation=1):
    return _deconv("conv_transpose3d", input, weight, bias, stride, padding,
            output_padding, groups, dilation)


def linear(input, weight, bias=None):
    if _is_open(input):
        _settle(input, [weight.shape[1]])
    if len(weight.shape) != 2:
        raise ValueError("a weight of sizes %s is not supported"
                % (weight.shape,))
    if not _fits(input.shape[-1], weight.shape[1]):
        raise ValueError("it needs %d features, but gets sizes %s"
                % (weight.shape[1], input.shape))
    return _aten("linear", list(input.shape[:-1]) + [weight.shape[0]], None,
            input=input, weight=weight, bias=bias)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
        scale_grad_by_freq=False, sparse=False):
    if _is_open(input):
        _ask(input, "LENGTH")
    _indices(input)
    return _aten("embedding", list(input.shape) + [weight.shape[1]], None,
            weight=weight, indices=input)


# Norms

def _norm_axes(input, count):
    if _is_open(input):
        _ask(input)
    if len(input.shape) == 3:
        _channels_first(input)
    if count is not None and not _fits(input.shape[1], count):
        raise ValueError("it needs %d channels, but gets sizes %s" % (count,
                input.shape))


def batch_norm(input, running_mean, running_var, weight=None, bias=None,
        training=False, momentum=0.1, eps=1e-5):
    _norm_axes(input, running_mean.shape[0]
            if running_mean is not None else None)
    if running_mean is None:
        raise ValueError(
                "a batch norm without running statistics is not supported")
    return _aten("batch_norm", input.shape, None, input=input, weight=weight,
            bias=bias, running_mean=running_mean,
                 running_var=running_var, eps=eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None,
        bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5):
    _norm_axes(input, weight.shape[0] if weight is not None else None)
    return _aten("instance_norm", input.shape, None, input=input,
            weight=weight, bias=bias,
                 running_mean=running_mean, running_var=running_var, eps=eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    sizes = _list(normalized_shape, len(normalized_shape))
    if _is_open(input):
        _ask(input)
    if not _fits(list(input.shape[-len(sizes):]), sizes):
        raise ValueError("it needs the sizes %s, but gets %s" % (sizes,
                input.shape))
    return _aten("layer_norm", input.shape, None, input=input,
            normalized_shape=sizes, weight=weight, bias=bias,
                 eps=eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return _aten("rms_norm", input.shape, None, input=input,
            normalized_shape=list(normalized_shape), weight=weight,
                 eps=eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    _norm_axes(input, weight.shape[0] if weight is not None else None)
    if input.shape[1] % num_groups:
        raise ValueError("%d groups do not divide sizes %s" % (num_groups,
                input.shape))
    return _aten("group_norm", input.shape, None, input=input,
            num_groups=num_groups, weight=weight, bias=bias,
                 eps=eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    if p != 2:
        raise ValueError("a norm of this order is not supported")
    norm = _reduce("linalg_vector_norm", input, dim, True)
    return div(input, clamp_min(norm, eps))


# Element by element

def _same(name, x, **kwargs):
    _sized(x)
    return _aten(name, x.shape, x.dtype, self=x, **kwargs)


def _act(name, x, inplace, **kwargs):
    y = _same(name, x, **kwargs)
    return _become(x, y) if inplace else y


def relu(input, inplace=False):
    return _act("relu", input, inplace)


def relu6(input, inplace=False):
    return _act("relu6", input, inplace)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _act("leaky_relu", input, inplace, negative_slope=negative_slope)


def elu(input, alpha=1.0, inplace=False):
    return _act("elu", input, inplace, alpha=alpha)


def celu(input, alpha=1.0, inplace=False):
    return _act("celu", input, inplace, alpha=alpha)


def selu(input, inplace=False):
    return _act("selu", input, inplace)


def silu(input, inplace=False):
    return _act("silu", input, inplace)


def mish(input, inplace=False):
    return _act("mish", input, inplace)


def hardswish(input, inplace=False):
    return _act("hardswish", input, inplace)


def hardsigmoid(input, inplace=False):
    return _act("hardsigmoid", input, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    return _act("hardtanh", input, inplace, min_val=min_val, max_val=max_val)


def gelu(input, approximate="none"):
    return _same("gelu", input, approximate=approximate)


def prelu(input, weight):
    _sized(input)
    return _aten("prelu", input.shape, None, self=input, weight=weight)


def glu(input, dim=-1):
    dim = _axis(input, dim)
    sizes = list(input.shape)
    if sizes[dim] % 2:
        raise ValueError("its axis is not even")
    sizes[dim] = sizes[dim] // 2
    return _aten("glu", sizes, None, self=input, dim=dim)


def sigmoid(input):
    return _same("sigmoid", input)


def tanh(input):
    return _same("tanh", input)


def softplus(input, beta=1, threshold=20):
    if beta != 1:
        raise ValueError("softplus with a beta is not supported")
    return _same("softplus", input)


def softsign(input):
    return _same("softsign", input)


def logsigmoid(input):
    return _same("logsigmoid", input)


def exp(input):
    return _same("exp", input)


def log(input):
    return _same("log", input)


def sqrt(input):
    return _same("sqrt", input)


def rsqrt(input):
    return _same("rsqrt", input)


def sin(input):
    return _same("sin", input)


def cos(input):
    return _same("cos", input)


def square(input):
    return _same("square", input)


def reciprocal(input):
    return _same("reciprocal", input)


def erf(input):
    return _same("erf", input)


def _abs(input):
    return _same("abs", input)


def floor(input):
    return _same("floor", input)


def neg(input):
    return _same("neg", input)


def sign(input):
    return _same("sign", input)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    _sized(input)
    if dim is None:
        dim = 0 if len(input.shape) in (0, 1, 3) else 1
    return _aten("softmax", input.shape, None, self=input, dim=_axis(input,
            dim))


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    _sized(input)
    if dim is None:
        dim = 0 if len(input.shape) in (0, 1, 3) else 1
    return _aten("log_softmax", input.shape, None, self=input, dim=_axis(input,
            dim))


def _dropout(name, input, p, training, inplace):
    if p == 0 or not _is_training(training):
        return input
    _sized(input)
    y = _aten(name + ("_" if inplace else ""), input.shape, input.dtype,
            input=input, p=p)
    return _become(input, y) if inplace else y


def dropout(input, p=0.5, training=True, inplace=False):
    return _dropout("dropout", input, p, training, inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    return _dropout("feature_dropout", input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _dropout("feature_dropout", input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    return _dropout("feature_dropout", input, p, training, inplace)


def clamp(input, min=None, max=None):
    return _same("clamp", input, min=min, max=max)


def clip(input, min=None, max=None):
    return clamp(input, min, max)


def clamp_min(input, min):
    return _same("clamp_min", input, min=min)


_turned = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "sub": "rsub"}


# ATen has a tensor on the left.
def _two(name, a, b, type=None, **kwargs):
    for x in (a, b):
        if _is_open(x):
            _ask(x)
    if not _is_tensor(a):
        if name == "div":
            return mul(reciprocal(b), a)
        name = _turned.get(name, name)
        a, b = b, a
    return _aten(name, _joined(a, b), _kind(a, b) if type is None else type,
            self=a, other=b, **kwargs)


def add(input, other, alpha=1):
    return _two("add", input, other, alpha=None if alpha == 1 else alpha)


def sub(input, other, alpha=1):
    return _two("sub", input, other, alpha=None if alpha == 1 else alpha)


def subtract(input, other):
    return _two("sub", input, other)


def mul(input, other):
    return _two("mul", input, other)


def multiply(input, other):
    return _two("mul", input, other)


def div(input, other, rounding_mode=None):
    return _two("div", input, other, None if rounding_mode else "float32",
            rounding_mode=rounding_mode)


def true_divide(input, other):
    return div(input, other)


def floor_divide(input, other):
    return div(input, other, rounding_mode="floor")


def pow(input, exponent):
    if not _is_tensor(input):
        if input <= 0:
            raise ValueError("a power of a number below 0 is not supported")
        return exp(mul(exponent, _math_log(input)))
    _sized(input)
    return _aten("pow", _joined(input, exponent), _kind(input, exponent),
            self=input, exponent=exponent)


def maximum(input, other):
    return _two("maximum", input, other)


def minimum(input, other):
    return _two("minimum", input, other)


def eq(input, other):
    return _two("eq", input, other, "bool")


def ne(input, other):
    return _two("ne", input, other, "bool")


def lt(input, other):
    return _two("lt", input, other, "bool")


def le(input, other):
    return _two("le", input, other, "bool")


def gt(input, other):
    return _two("gt", input, other, "bool")


def ge(input, other):
    return _two("ge", input, other, "bool")


def logical_not(input):
    return _aten("logical_not", input.shape, "bool", self=input)


def logical_and(input, other):
    return _two("logical_and", input, other, "bool")


def where(condition, input, other):
    input = tensor(input)
    other = tensor(other)
    sizes = _broadcast(condition.shape, _joined(input, other))
    return _aten("where", sizes, _kind(input, other), condition=condition,
            self=input, other=other)


def masked_fill(input, mask, value):
    return _aten("masked_fill", _broadcast(input.shape, mask.shape),
            input.dtype, self=input, mask=mask, value=value)


def lerp(input, end, weight):
    return add(input, mul(sub(end, input), weight))


def type_as(input, other):
    return to(input, other.dtype)


def to(input, *args, dtype=None, device=None, non_blocking=False, copy=False,
        memory_format=None):
    for x in args:
        if _is_tensor(x):
            dtype = x.dtype
        elif x in ("float32", "int64", "bool"):
            dtype = x
    if dtype is None or _is_open(input) or dtype == input.dtype:
        return input
    return _aten("to", input.shape, dtype, self=input)


def type(input, dtype=None):
    return input.dtype if dtype is None else to(input, dtype)


# Products

def matmul(input, other):
    _sized(input)
    _sized(other)
    a = list(input.shape)
    b = list(other.shape)
    if len(a) < 2 or len(b) < 2:
        raise ValueError("a product of sizes %s and %s is not supported"
                % (input.shape, other.shape))
    if not _fits(a[-1], b[-2]):
        raise ValueError("sizes %s and %s have no product" % (input.shape,
                other.shape))
    sizes = _broadcast(a[:-2], b[:-2]) + [a[-2], b[-1]]
    return _aten("matmul", sizes, None, self=input, other=other)


def bmm(input, mat2):
    return matmul(input, mat2)


def mm(input, mat2):
    return matmul(input, mat2)


def addmm(input, mat1, mat2, beta=1, alpha=1):
    return add(matmul(mat1, mat2), input)


def baddbmm(input, batch1, batch2, beta=1, alpha=1):
    if beta != 1 or alpha != 1:
        raise ValueError("baddbmm with beta or alpha is not supported")
    return add(matmul(batch1, batch2), input)


def einsum(equation, *operands):
    tensors = _sizes(operands)
    text = equation.split("-")
    if len(text) != 2:
        raise ValueError("this equation is not supported")
    letters = {}
    parts = text[0].split(",")
    if len(parts) != len(tensors):
        raise ValueError("this equation is not supported")
    for i in range(len(parts)):
        at = 0
        for c in parts[i]:
            if c != " ":
                if c == ".":
                    raise ValueError("an equation with `...` is not supported")
                if c in letters and not _fits(letters[c],
                        tensors[i].shape[at]):
                    raise ValueError("sizes of `%s` differ" % c)
                letters[c] = tensors[i].shape[at]
                at += 1
        if at != len(tensors[i].shape):
            raise ValueError("this equation does not fit sizes %s"
                    % (tensors[i].shape,))
    sizes = [letters[c] for c in text[1] if c not in " >"]
    return _aten("einsum", sizes, None, equation=equation, tensors=tensors)


def scaled_dot_product_attention(query, key, value, attn_mask=None,
        dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False, _module=0):
    return _aten("scaled_dot_product_attention", list(query.shape[:-1])
            + [value.shape[-1]], None, query=query,
                 key=key, value=value, attn_mask=attn_mask,
                 dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                 module=_module)


def bilinear(input1, input2, weight, bias=None):
    raise ValueError("a bilinear layer is not supported")


# Pooling, and sizes of maps

def _pool(name, input, kernel_size, stride, padding, dilation, ceil_mode,
        **kwargs):
    axes = _digits[name[-2]]
    _sized(input)
    if axes == 1:
        _channels_first(input)
    if len(input.shape) != axes + 2:
        raise ValueError("%s needs a tensor with %d axes, but gets sizes %s"
                % (name, axes + 2, input.shape))
    kernel = _list(kernel_size, axes)
    stride = kernel if stride is None or stride == [] else _list(stride, axes)
    padding = _list(padding, axes)
    dilation = _list(dilation, axes)
    sizes = list(input.shape[:2])
    for i in range(axes):
        sizes.append(_window(input.shape[2 + i], kernel[i], stride[i],
                padding[i], dilation[i], ceil_mode))
    return _aten(name, sizes, None, self=input, kernel_size=kernel,
            stride=stride, padding=padding,
                 dilation=dilation, ceil_mode=ceil_mode, **kwargs)


_digits = {"1": 1, "2": 2, "3": 3}


def _no_indices(return_indices):
    if return_indices:
        raise ValueError("indices of a maximum are not supported")


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1,
        ceil_mode=False, return_indices=False):
    _no_indices(return_indices)
    return _pool("max_pool1d", input, kernel_size, stride, padding, dilation,
            ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1,
        ceil_mode=False, return_indices=False):
    _no_indices(return_indices)
    return _pool("max_pool2d", input, kernel_size, stride, padding, dilation,
            ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1,
        ceil_mode=False, return_indices=False):
    _no_indices(return_indices)
    return _pool("max_pool3d", input, kernel_size, stride, padding, dilation,
            ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
        count_include_pad=True):
    return _pool("avg_pool1d", input, kernel_size, stride, padding, 1,
            ceil_mode,
                 count_include_pad=count_include_pad)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
        count_include_pad=True,
               divisor_override=None):
    return _pool("avg_pool2d", input, kernel_size, stride, padding, 1,
            ceil_mode,
                 count_include_pad=count_include_pad,
                 divisor_override=divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
        count_include_pad=True,
               divisor_override=None):
    return _pool("avg_pool3d", input, kernel_size, stride, padding, 1,
            ceil_mode,
                 count_include_pad=count_include_pad,
                 divisor_override=divisor_override)


def _adaptive(name, input, output_size):
    axes = _digits[name[-2]]
    _sized(input)
    if axes == 1:
        _channels_first(input)
    if len(input.shape) != axes + 2:
        raise ValueError("%s needs a tensor with %d axes, but gets sizes %s"
                % (name, axes + 2, input.shape))
    out = _list(output_size, axes)
    sizes = list(input.shape[:2])
    for i in range(axes):
        sizes.append(input.shape[2 + i] if out[i] is None else out[i])
    return _aten(name, sizes, None, self=input, output_size=sizes[2:])


def adaptive_avg_pool1d(input, output_size):
    return _adaptive("adaptive_avg_pool1d", input, output_size)


def adaptive_avg_pool2d(input, output_size):
    return _adaptive("adaptive_avg_pool2d", input, output_size)


def adaptive_avg_pool3d(input, output_size):
    return _adaptive("adaptive_avg_pool3d", input, output_size)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    raise ValueError("adaptive_max_pool1d is not supported")


def adaptive_max_pool2d(input, output_size, return_indices=False):
    _no_indices(return_indices)
    return _adaptive("adaptive_max_pool2d", input, output_size)


def interpolate(input, size=None, scale_factor=None, mode="nearest",
        align_corners=None,
                recompute_scale_factor=None, antialias=False):
    _sized(input)
    axes = len(input.shape) - 2
    if axes == 1:
        _channels_first(input)
    sizes = list(input.shape[:2])
    if size is not None:
        sizes = sizes + _list(size, axes)
    else:
        scale = _list(scale_factor, axes)
        for i in range(axes):
            sizes.append(_int(input.shape[2 + i] * scale[i]))
    names = {"nearest": ["upsample_nearest1d", "upsample_nearest2d",
            "upsample_nearest3d"],
             "bilinear": [None, "upsample_bilinear2d", None], "bicubic": [None,
                     "upsample_bicubic2d", None]}
    name = names[mode][axes - 1] if mode in names and axes in (1, 2,
            3) else None
    if name is None or antialias:
        raise ValueError("interpolation `%s` of %d axes is not supported"
                % (mode, axes))
    return _aten(name, sizes, None, self=input, align_corners=align_corners)


def upsample(input, size=None, scale_factor=None, mode="nearest",
        align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def pixel_shuffle(input, upscale_factor):
    b, c, h, w = _sized(input).shape
    r = upscale_factor
    if c % (r * r):
        raise ValueError("its channels cannot be shuffled by %d" % r)
    return _aten("pixel_shuffle", [b, c // (r * r), h * r, w * r], None,
            self=input, upscale_factor=r)


def pad(input, pad, mode="constant", value=None):
    _sized(input)
    sizes = list(input.shape)
    if len(pad) % 2 or len(pad) > 2 * len(sizes):
        raise ValueError("a pad of %d numbers is not supported" % len(pad))
    for i in range(len(pad) // 2):
        sizes[-1 - i] = sizes[-1 - i] + pad[2 * i] + pad[2 * i + 1]
    return _aten("pad", sizes, input.dtype, self=input, pad=list(pad),
            mode=mode, value=value)


def unfold(input, *args, **kwargs):
    raise ValueError("unfold is not supported")


# Sums over axes

def _axes(input, dim):
    if dim is None:
        return list(range(len(input.shape)))
    if isinstance(dim, (list, tuple)):
        return [_axis(input, d) for d in dim]
    return [_axis(input, dim)]


def _reduce(name, input, dim, keepdim):
    _sized(input)
    axes = _axes(input, dim)
    sizes = []
    for i in range(len(input.shape)):
        if i not in axes:
            sizes.append(input.shape[i])
        elif keepdim:
            sizes.append(1)
    return _aten(name, sizes, input.dtype, self=input, dim=axes,
            keepdim=keepdim)


def mean(input, dim=None, keepdim=False, dtype=None, axis=None,
        keepdims=False):
    return _reduce("mean", input, axis if dim is None else dim, keepdim
            or keepdims)


def sum(input, dim=None, keepdim=False, dtype=None, axis=None, keepdims=False):
    return _reduce("sum", input, axis if dim is None else dim, keepdim
            or keepdims)


def amax(input, dim=None, keepdim=False):
    return _reduce("amax", input, dim, keepdim)


def amin(input, dim=None, keepdim=False):
    return _reduce("amin", input, dim, keepdim)


class _Pair:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, index):
        if index != 0:
            raise ValueError("indices of a maximum are not supported")
        return self.values

    def __iter__(self):
        return [self.values, None]


def max(input, dim=None, keepdim=False):
    if _is_tensor(dim):
        return maximum(input, dim)
    if dim is None:
        return _reduce("amax", input, None, False)
    return _Pair(_reduce("amax", input, dim, keepdim))


def min(input, dim=None, keepdim=False):
    if _is_tensor(dim):
        return minimum(input, dim)
    if dim is None:
        return _reduce("amin", input, None, False)
    return _Pair(_reduce("amin", input, dim, keepdim))


def norm(input, p=2, dim=None, keepdim=False):
    if p != 2 and p != "fro":
        raise ValueError("a norm of this order is not supported")
    return _reduce("linalg_vector_norm", input, dim, keepdim)


def var(input, dim=None, unbiased=True, keepdim=False, correction=1):
    centred = sub(input, _reduce("mean", input, dim, True))
    mean = _reduce("mean", square(centred), dim, keepdim)
    if not unbiased or not correction:
        return mean
    count = 1
    for axis in _axes(input, dim):
        count *= input.shape[axis]
    return mul(mean, count / (count - correction))


def std(input, dim=None, unbiased=True, keepdim=False, correction=1):
    return sqrt(var(input, dim, unbiased, keepdim, correction))


def cumsum(input, dim):
    return _same("cumsum", input, dim=_axis(input, dim))


# Moves

def _count(sizes):
    product = 1
    for size in sizes:
        product = product * size
    return product


def _reshape(name, input, sizes):
    if _is_open(input):
        if len(sizes) == 2 and sizes[1] != -1:
            _settle(input, [sizes[1]])
        if len(sizes) == 2:
            return input
        _ask(input)
    total = _count(input.shape)
    rest = [size for size in sizes if size != -1]
    known = _count(rest)
    if len(rest) + 1 == len(sizes):
        if known == 0:
            raise ValueError("sizes %s are not supported" % (sizes,))
        if total % known != 0:
            raise ValueError("sizes %s cannot become %s" % (input.shape,
                    sizes))
        sizes = [total // known if size == -1 else size for size in sizes]
    elif len(rest) != len(sizes) or not _fits(total, known):
        raise ValueError("sizes %s cannot become %s" % (input.shape, sizes))
    return _aten(name, sizes, input.dtype, self=input, size=sizes)


def view(input, *shape):
    return _reshape("view", input, _sizes(shape))


def reshape(input, *shape):
    return _reshape("reshape", input, _sizes(shape))


def view_as(input, other):
    return _reshape("view", input, list(other.shape))


def reshape_as(input, other):
    return _reshape("view", input, list(other.shape))


def flatten(input, start_dim=0, end_dim=-1):
    if _is_open(input) and start_dim == 1:
        return input
    _sized(input)
    start = _axis(input, start_dim)
    end = _axis(input, end_dim)
    sizes = list(input.shape[:start]) + [_count(input.shape[start:end
            + 1])] + list(input.shape[end + 1:])
    return _aten("flatten", sizes, input.dtype, self=input, start_dim=start,
            end_dim=end)


def ravel(input):
    return flatten(input)


def unflatten(input, dim, sizes):
    dim = _axis(input, dim)
    return _reshape("view", input, list(input.shape[:dim]) + list(sizes)
            + list(input.shape[dim + 1:]))


def squeeze(input, dim=None):
    _sized(input)
    axes = _axes(input, dim)
    sizes = []
    for i in range(len(input.shape)):
        if i not in axes or i == 0 and dim is None or not _fits(input.shape[i],
                1):
            sizes.append(input.shape[i])
    return _aten("squeeze", sizes, input.dtype, self=input)


def unsqueeze(input, dim):
    _sized(input)
    dim = dim + len(input.shape) + 1 if dim < 0 else dim
    sizes = list(input.shape)
    sizes.insert(dim, 1)
    return _aten("unsqueeze", sizes, input.dtype, self=input, dim=dim)


def permute(input, *dims):
    _sized(input)
    order = [_axis(input, d) for d in _sizes(dims)]
    if len(order) != len(input.shape) or sorted(order) != list(range(len(
            order))):
        raise ValueError("this order of axes does not fit sizes %s"
                % (input.shape,))
    return _aten("permute", [input.shape[d] for d in order], input.dtype,
            self=input, dims=order)


def transpose(input, dim0, dim1):
    _sized(input)
    a = _axis(input, dim0)
    b = _axis(input, dim1)
    sizes = list(input.shape)
    sizes[a] = input.shape[b]
    sizes[b] = input.shape[a]
    return _aten("transpose", sizes, input.dtype, self=input, dim0=a, dim1=b)


def swapaxes(input, axis0, axis1):
    return transpose(input, axis0, axis1)


def movedim(input, source, destination):
    order = list(range(len(input.shape)))
    order.pop(_axis(input, source))
    order.insert(_axis(input, destination), _axis(input, source))
    return permute(input, order)


def t(input):
    return transpose(input, 0, 1)


def expand(input, *sizes):
    sizes = _sizes(sizes)
    shape = list(input.shape)
    while len(shape) < len(sizes):
        shape.insert(0, 1)
    out = []
    for i in range(len(sizes)):
        if sizes[i] != -1 and not _fits(shape[i], 1) and not _fits(sizes[i],
                shape[i]):
            raise ValueError("sizes %s cannot be expanded to %s"
                    % (input.shape, sizes))
        out.append(shape[i] if sizes[i] == -1 else sizes[i])
    return _aten("expand", out, input.dtype, self=input, size=out)


def expand_as(input, other):
    return expand(input, list(other.shape))


def broadcast_to(input, size):
    return expand(input, size)


def repeat(input, *sizes):
    times = _sizes(sizes)
    shape = list(input.shape)
    while len(shape) < len(times):
        shape.insert(0, 1)
    out = [shape[i] * times[i] for i in range(len(times))]
    whole = [out[i] if _fits(shape[i], 1) else shape[i]
            for i in range(len(times))]
    if _fits(whole, out):
        return expand(input, out)
    if len(shape) != len(input.shape):
        input = _reshape("view", input, shape)
    return _aten("repeat", out, input.dtype, self=input, repeats=times)


def tile(input, *sizes):
    return repeat(input, *sizes)


def _tensor_list(tensors):
    tensors = list(tensors)
    for x in tensors:
        _sized(x)
    if len(tensors) == 0:
        raise ValueError("it joins no tensors")
    return tensors


def cat(tensors, dim=0, axis=None):
    tensors = _tensor_list(tensors)
    dim = _axis(tensors[0], dim if axis is None else axis)
    sizes = list(tensors[0].shape)
    for x in tensors[1:]:
        for i in range(len(sizes)):
            if len(x.shape) != len(sizes) or i != dim and not _fits(x.shape[i],
                    sizes[i]):
                raise ValueError("sizes %s and %s cannot be joined"
                        % (tensors[0].shape, x.shape))
        sizes[dim] = sizes[dim] + x.shape[dim]
    return _aten("cat", sizes, tensors[0].dtype, tensors=tensors, dim=dim)


def concat(tensors, dim=0):
    return cat(tensors, dim)


def stack(tensors, dim=0):
    tensors = _tensor_list(tensors)
    dim = dim + len(tensors[0].shape) + 1 if dim < 0 else dim
    sizes = list(tensors[0].shape)
    for x in tensors:
        if not _fits(list(x.shape), sizes):
            raise ValueError("sizes %s and %s cannot be stacked"
                    % (tensors[0].shape, x.shape))
    sizes.insert(dim, len(tensors))
    return _aten("stack", sizes, tensors[0].dtype, tensors=tensors, dim=dim)


def _split(input, parts, dim):
    sizes = []
    for part in parts:
        size = list(input.shape)
        size[dim] = part
        sizes.append(size)
    return _aten_parts("split", sizes, input.dtype, self=input, dim=dim)


def split(input, split_size_or_sections, dim=0):
    _sized(input)
    dim = _axis(input, dim)
    size = input.shape[dim]
    parts = split_size_or_sections
    if not isinstance(parts, (list, tuple)):
        if parts < 1:
            raise ValueError("parts of %d values are not supported" % parts)
        full = size // parts
        parts = [parts] * full + ([size % parts] if size % parts else [])
    if not _fits(_total(parts), size):
        raise ValueError("parts %s do not add up to %s" % (parts, size))
    return _split(input, parts, dim)


def _total(parts):
    total = 0
    for part in parts:
        total += part
    return total


def chunk(input, chunks, dim=0):
    _sized(input)
    size = input.shape[_axis(input, dim)]
    return split(input, (size + chunks - 1) // chunks, dim)


def unbind(input, dim=0):
    _sized(input)
    dim = _axis(input, dim)
    sizes = list(input.shape)
    count = sizes.pop(dim)
    if count > 512:
        raise ValueError("%d parts are too many" % count)
    return _aten_parts("unbind", [sizes for i in range(count)], input.dtype,
            self=input, dim=dim)


def select(input, dim, index):
    _sized(input)
    dim = _axis(input, dim)
    sizes = list(input.shape)
    size = sizes.pop(dim)
    if index >= size or index < -size:
        raise ValueError("there is no place %d in sizes %s" % (index,
                input.shape))
    return _aten("select", sizes, input.dtype, self=input, dim=dim,
            index=index)


def narrow(input, dim, start, length):
    return _range(input, _axis(input, dim), start, start + length, None)


def roll(input, shifts, dims=None):
    if dims is None:
        raise ValueError("roll without axes is not supported")
    shifts = [shifts] if isinstance(shifts, _int) else list(shifts)
    dims = [dims] if isinstance(dims, _int) else list(dims)
    return _same("roll", input, shifts=shifts, dims=[_axis(input, d)
            for d in dims])


def gather(input, dim, index):
    raise ValueError("gather is not supported")


def index_select(input, dim, index):
    sizes = list(input.shape)
    sizes[_axis(input, dim)] = index.shape[0]
    return _aten("index_select", sizes, input.dtype, self=input,
            dim=_axis(input, dim), index=index)


def _range(input, dim, start, stop, step):
    size = input.shape[dim]
    step = 1 if step is None else step
    if start is None and stop is None and step == 1:
        return input
    if step < 1:
        raise ValueError("a slice with a step of %d is not supported" % step)
    begin = 0 if start is None else start
    begin = begin + size if begin < 0 else begin
    end = size if stop is None else stop
    if _fits(end, size) and begin == 0 and step == 1:
        return input
    end = end + size if end < 0 else end
    begin = 0 if begin < 0 else size if begin > size else begin
    end = size if end > size else end
    if end <= begin:
        raise ValueError("a slice without values is not supported")
    sizes = list(input.shape)
    sizes[dim] = (end - begin + step - 1) // step
    return _aten("slice", sizes, input.dtype, self=input, dim=dim, start=begin,
                 end=None if _fits(end, size) else end, step=step)


def _part(input, index):
    _sized(input)
    index = index if isinstance(index, tuple) else (index,)
    at = 0
    for i in index:
        if i is ...:
            at = len(input.shape) - _after(index)
        elif i is None:
            input = unsqueeze(input, at)
            at += 1
        elif _is_tensor(i):
            if len(i.shape) != 1 or i.dtype != "int64":
                raise ValueError("an index of sizes %s is not supported"
                        % (i.shape,))
            input = index_select(input, at, i)
            at += 1
        elif isinstance(i, _int):
            input = select(input, at, i)
        elif isinstance(i, (list, tuple)):
            parts = []
            for k in i:
                if not isinstance(k, _int):
                    raise ValueError("this list as an index is not supported")
                end = None if k == -1 else k + 1
                parts.append(_range(input, at, k, end, None))
            input = parts[0] if len(parts) == 1 else cat(parts, at)
            at += 1
        else:
            if at >= len(input.shape):
                raise ValueError("sizes %s have no axis %d" % (input.shape,
                        at))
            input = _range(input, at, i.start, i.stop, i.step)
            at += 1
    return input


def _after(index):
    count = 0
    for i in reversed(index):
        if i is ...:
            return count
        if i is not None:
            count += 1
    return count


def size(input, dim=None):
    return input.shape if dim is None else input.shape[dim]


def dim(input):
    return len(input.shape)


def numel(input):
    return _count(input.shape)


def contiguous(input, memory_format=None):
    return input


def clone(input, memory_format=None):
    return _same("clone", input)


def detach(input):
    return input


def cuda(input, device=None, non_blocking=False):
    return input


def cpu(input):
    return input


def requires_grad_(input, requires_grad=True):
    input.requires_grad = requires_grad
    return input


def retain_grad(input):
    return None


def register_hook(input, hook):
    return None


def device(*args):
    return "cpu"


def is_available():
    return False


def Variable(data, requires_grad=False, volatile=False):
    return data


def load_url(url, *args, **kwargs):
    return {}


def load_state_dict_from_url(url, *args, **kwargs):
    return {}


class Queue:
    def __init__(self, *args):
        self.size = 0


class Lock(Queue):
    pass


def is_tensor(x):
    return _is_tensor(x)


def is_floating_point(x):
    return x.dtype == "float32"


def manual_seed(seed):
    return None


# Values that do not depend on the inputs

def _filled(name, sizes, dtype, usual, **kwargs):
    return _aten(name, sizes, usual if dtype is None else dtype, **kwargs)


def zeros(*size, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    x = _filled("zeros", _sizes(size), dtype, "float32")
    _zeros.append(x)
    return x


def ones(*size, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    return _filled("ones", _sizes(size), dtype, "float32")


def full(size, fill_value, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    return _filled("full", list(size), dtype, "float32", fill_value=fill_value)


def zeros_like(input, dtype=None, device=None, requires_grad=False):
    return _filled("zeros", list(input.shape), dtype, input.dtype)


def ones_like(input, dtype=None, device=None, requires_grad=False):
    return _filled("ones", list(input.shape), dtype, input.dtype)


def full_like(input, fill_value, dtype=None, device=None):
    return _filled("full", list(input.shape), dtype, input.dtype,
            fill_value=fill_value)


def new_zeros(input, *size, dtype=None, device=None):
    return _filled("zeros", _sizes(size), dtype, input.dtype)


def new_ones(input, *size, dtype=None, device=None):
    return _filled("ones", _sizes(size), dtype, input.dtype)


def empty(*size, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    return _leaf(_sizes(size), dtype)


def randn(*size, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    return _leaf(_sizes(size), dtype)


def rand(*size, out=None, dtype=None, layout=None, device=None,
        requires_grad=False):
    return _leaf(_sizes(size), dtype)


def randn_like(input, dtype=None, device=None):
    raise ValueError("random values in `forward` are not supported")


def rand_like(input, dtype=None, device=None):
    raise ValueError("random values in `forward` are not supported")


def _flat_sizes(data):
    sizes = []
    while isinstance(data, (list, tuple)):
        sizes.append(len(data))
        data = data[0] if len(data) else None
    return sizes


def tensor(data, dtype=None, device=None, requires_grad=False):
    if _is_tensor(data):
        return data
    if isinstance(data, (_int, _float)):
        return _aten("scalar_tensor", [], "float32"
                if dtype is None else dtype, s=data)
    return _leaf(_flat_sizes(data), dtype)


def as_tensor(data, dtype=None, device=None):
    return tensor(data, dtype)


def FloatTensor(*sizes):
    return tensor(sizes[0]) if isinstance(sizes[0],
            list) else _leaf(_sizes(sizes))


def Tensor(*sizes):
    return tensor(sizes[0]) if isinstance(sizes[0],
            list) else _leaf(_sizes(sizes))


def arange(start, end=None, step=1, out=None, dtype=None, layout=None,
        device=None, requires_grad=False):
    if end is None:
        end = start
        start = 0
    whole = isinstance(start, _int) and isinstance(end,
            _int) and isinstance(step, _int)
    count = _int(_math_ceil((end - start) / step))
    type = ("int64" if whole else "float32") if dtype is None else dtype
    return _aten("arange", [count], type, start=start, end=end, step=step)


def linspace(start, end, steps, dtype=None, device=None):
    return _leaf([steps])


def eye(n, m=None, dtype=None, device=None):
    return _leaf([n, n if m is None else m])


def tril(input, diagonal=0):
    return _same("tril", input, diagonal=diagonal)


def triu(input, diagonal=0):
    return _same("triu", input, diagonal=diagonal)


# Values that a constructor sets: what they are does not matter.

def normal(input, mean=0.0, std=1.0):
    return input


def uniform(input, a=0.0, b=1.0):
    return input


def zero(input):
    return input


def fill(input, value):
    return input


def copy(input, src, non_blocking=False):
    return input


def Parameter(data=None, requires_grad=True):
    if data is None:
        raise ValueError("a parameter without sizes is not supported")
    return _leaf(list(data.shape), data.dtype, requires_grad)


# Modules

class Module:
    def __init__(self, *args, **kwargs):
        pass

    def add_module(self, name, module):
        setattr(self, name, module)

    def register_module(self, name, module):
        setattr(self, name, module)

    def register_parameter(self, name, param):
        setattr(self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        setattr(self, name, tensor)

    def named_children(self):
        return _children(self)

    def children(self):
        return [m for n, m in _children(self)]

    def modules(self):
        return [m for n, m in self.named_modules()]

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        start = prefix + "." if prefix else ""
        all = [(prefix, self)]
        for name, m in _children(self):
            all.extend(m.named_modules(None, start + str(name)))
        return all

    def parameters(self, recurse=True):
        return [p for n, p in self.named_parameters("", recurse)]

    def named_parameters(self, prefix="", recurse=True):
        start = prefix + "." if prefix else ""
        all = [(start + name, p) for name, p in _own(self)]
        if recurse:
            for name, m in _children(self):
                all.extend(m.named_parameters(start + str(name)))
        return all

    def apply(self, fn):
        return self

    def train(self, mode=True):
        return self

    def eval(self):
        return self

    def to(self, *args, **kwargs):
        return self

    def cuda(self, *args):
        return self

    def cpu(self):
        return self

    def float(self):
        return self

    def half(self):
        return self

    def double(self):
        return self

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none=True):
        pass

    def __setattr__(self, name, value):
        setattr(self, name, value)

    def __getattr__(self, name):
        return getattr(self, name)

    def state_dict(self, *args, **kwargs):
        return {}

    def load_state_dict(self, state, strict=True):
        pass

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def log(self, *args, **kwargs):
        pass


LightningModule = Module
ScriptModule = Module


class _Options:
    pass


class ArgumentParser:
    def __init__(self, *args, **kwargs):
        self.options = _Options()

    def add_argument(self, *names, default=None, type=None, action=None,
            **kwargs):
        value = default
        if action in ("store_true", "store_false") and default is None:
            value = action == "store_false"
        name = kwargs.get("dest", names[-1].lstrip("-").replace("-", "_"))
        setattr(self.options, name, value)

    def parse_args(self, *args):
        return self.options

    def parse_known_args(self, *args):
        return self.options, []


class Sequential(Module):
    def __init__(self, *args):
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for module in args:
                self.append(module)

    def forward(self, input):
        for module in self.children():
            input = module(input)
        return input

    def append(self, module):
        if not isinstance(module, Module):
            raise ValueError("%s in a list of modules is not supported"
                    % (module,))
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        raise ValueError("insert of a list of modules is not supported")

    def __len__(self):
        return len(_children(self))

    def __iter__(self):
        return self.children()

    def __getitem__(self, index):
        if isinstance(index, str):
            return getattr(self, index)
        if isinstance(index, _int):
            return self.children()[index]
        part = Sequential()
        for module in self.children()[index]:
            part.append(module)
        return part

    def __setitem__(self, index, module):
        names = [n for n, m in _children(self)]
        setattr(self, names[index], module)


class ModuleList(Sequential):
    def __init__(self, modules=None):
        if modules is not None:
            self.extend(modules)

    def forward(self, *args):
        raise ValueError("a ModuleList cannot be called")


class ModuleDict(Module):
    def __init__(self, modules=None):
        if modules is not None:
            self.update(modules)

    def update(self, modules):
        pairs = modules.items() if isinstance(modules, dict) else modules
        for name, module in pairs:
            self.add_module(name, module)

    def items(self):
        return _children(self)

    def keys(self):
        return [n for n, m in _children(self)]

    def values(self):
        return self.children()

    def __iter__(self):
        return self.keys()

    def __len__(self):
        return len(_children(self))

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        setattr(self, name, module)

    def __contains__(self, name):
        return name in self.keys()


class ParameterList(Module):
    def __init__(self, values=None):
        for value in values or []:
            self.append(value)

    def append(self, value):
        setattr(self, str(len(_own(self))), value)
        return self

    def __len__(self):
        return len(_own(self))

    def __iter__(self):
        return self.parameters()

    def __getitem__(self, index):
        return self.parameters()[index]


class Identity(Module):
    def forward(self, input):
        return input


class _Convolution(Module):
    def _set(self, in_channels, out_channels, kernel_size, stride, padding,
            dilation, groups, bias, first, second):
        axes = self.axes
        if in_channels % groups or out_channels % groups:
            raise ValueError("%d groups do not divide %d and %d channels"
                    % (groups, in_channels, out_channels))
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = tuple(_list(kernel_size, axes))
        self.stride = tuple(_list(stride, axes))
        self.padding = padding
        if not isinstance(padding, str):
            self.padding = tuple(_list(padding, axes))
        self.dilation = tuple(_list(dilation, axes))
        self.groups = groups
        self.weight = Parameter(_leaf([first, second // groups]
                + list(self.kernel_size)))
        self.bias = Parameter(_leaf([out_channels])) if bias else None


class _Conv(_Convolution):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1,
            padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
            device=None, dtype=None):
        self._set(in_channels, out_channels, kernel_size, stride, padding,
                dilation, groups, bias, out_channels, in_channels)
        self.padding_mode = padding_mode

    def forward(self, input):
        padding = self.padding
        if self.padding_mode != "zeros" and not isinstance(padding, str):
            sides = []
            for size in reversed(padding):
                sides.extend([size, size])
            _sized(input)
            if self.axes == 1:
                _channels_first(input)
            input = pad(input, sides, mode=self.padding_mode)
            padding = 0
        elif self.padding_mode != "zeros":
            raise ValueError("padding `same` of mode `%s` is not supported"
                    % self.padding_mode)
        return _conv(self.call, input, self.weight, self.bias, self.stride,
                padding, self.dilation, self.groups)


class Conv1d(_Conv):
    axes = 1
    call = "conv1d"


class Conv2d(_Conv):
    axes = 2
    call = "conv2d"


class Conv3d(_Conv):
    axes = 3
    call = "conv3d"


class _Deconv(_Convolution):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1,
            padding=0, output_padding=0, groups=1, bias=True, dilation=1,
            padding_mode="zeros", device=None, dtype=None):
        if isinstance(padding, str):
            raise ValueError("padding `%s` is not supported" % padding)
        self._set(in_channels, out_channels, kernel_size, stride, padding,
                dilation, groups, bias, in_channels, out_channels)
        self.output_padding = tuple(_list(output_padding, self.axes))

    def forward(self, input, output_size=None):
        if output_size is not None:
            raise ValueError(
                "`output_size` of a transposed convolution is not supported")
        return _deconv(self.call, input, self.weight, self.bias, self.stride,
                self.padding, self.output_padding,
                       self.groups, self.dilation)


class ConvTranspose1d(_Deconv):
    axes = 1
    call = "conv_transpose1d"


class ConvTranspose2d(_Deconv):
    axes = 2
    call = "conv_transpose2d"


class ConvTranspose3d(_Deconv):
    axes = 3
    call = "conv_transpose3d"


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None,
            dtype=None):
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_leaf([out_features, in_features]))
        self.bias = Parameter(_leaf([out_features])) if bias else None

    def forward(self, input):
        return linear(input, self.weight, self.bias)


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None,
            max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None,
                 _freeze=False, device=None, dtype=None):
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self.weight = Parameter(_leaf([num_embeddings, embedding_dim]))

    def forward(self, input):
        return embedding(input, self.weight)


class _BatchNorm(Module):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
            track_running_stats=True, device=None,
                 dtype=None):
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = Parameter(_leaf([num_features])) if affine else None
        self.bias = Parameter(_leaf([num_features])) if affine else None
        self.running_mean = _leaf([
                num_features]) if track_running_stats else None
        self.running_var = _leaf([
                num_features]) if track_running_stats else None

    def forward(self, input):
        if _is_open(input) and 2 in self.ranks:
            _settle(input, [self.num_features])
        if len(_sized(input).shape) not in self.ranks:
            raise ValueError("this norm does not fit sizes %s"
                    % (input.shape,))
        return batch_norm(input, self.running_mean, self.running_var,
                self.weight, self.bias, eps=self.eps)


class BatchNorm1d(_BatchNorm):
    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    ranks = (2, 3, 4, 5)


class _InstanceNorm(_BatchNorm):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False,
            track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine,
                track_running_stats)

    def forward(self, input):
        return instance_norm(input, self.running_mean, self.running_var,
                self.weight, self.bias, eps=self.eps)


class InstanceNorm1d(_InstanceNorm):
    pass


class InstanceNorm2d(_InstanceNorm):
    pass


class InstanceNorm3d(_InstanceNorm):
    pass


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True,
            bias=True, device=None, dtype=None):
        sizes = [normalized_shape] if isinstance(normalized_shape,
                _int) else list(normalized_shape)
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.weight = Parameter(_leaf(sizes)) if elementwise_affine else None
        self.bias = Parameter(_leaf(
                sizes)) if elementwise_affine and bias else None

    def forward(self, input):
        if _is_open(input) and len(self.normalized_shape) == 1:
            _settle(input, [self.normalized_shape[0]])
        return layer_norm(input, self.normalized_shape, self.weight, self.bias,
                self.eps)


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True,
            device=None, dtype=None):
        sizes = [normalized_shape] if isinstance(normalized_shape,
                _int) else list(normalized_shape)
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.weight = Parameter(_leaf(sizes)) if elementwise_affine else None

    def forward(self, input):
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True,
            device=None, dtype=None):
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = Parameter(_leaf([num_channels])) if affine else None
        self.bias = Parameter(_leaf([num_channels])) if affine else None

    def forward(self, input):
        return group_norm(input, self.num_groups, self.weight, self.bias,
                self.eps)


class _Activation(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace


class ReLU(_Activation):
    def forward(self, input):
        return relu(input, self.inplace)


class ReLU6(_Activation):
    def forward(self, input):
        return relu6(input, self.inplace)


class SiLU(_Activation):
    def forward(self, input):
        return silu(input, self.inplace)


class Mish(_Activation):
    def forward(self, input):
        return mish(input, self.inplace)


class SELU(_Activation):
    def forward(self, input):
        return selu(input, self.inplace)


class Hardswish(_Activation):
    def forward(self, input):
        return hardswish(input, self.inplace)


class Hardsigmoid(_Activation):
    def forward(self, input):
        return hardsigmoid(input, self.inplace)


class LeakyReLU(Module):
    def __init__(self, negative_slope=0.01, inplace=False):
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        return leaky_relu(input, self.negative_slope, self.inplace)


class ELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return elu(input, self.alpha, self.inplace)


class CELU(ELU):
    def forward(self, input):
        return celu(input, self.alpha, self.inplace)


class Hardtanh(Module):
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input):
        return hardtanh(input, self.min_val, self.max_val, self.inplace)


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        self.weight = Parameter(_leaf([num_parameters]))

    def forward(self, input):
        return prelu(input, self.weight)


class GELU(Module):
    def __init__(self, approximate="none"):
        self.approximate = approximate

    def forward(self, input):
        return gelu(input, self.approximate)


class GLU(Module):
    def __init__(self, dim=-1):
        self.dim = dim

    def forward(self, input):
        return glu(input, self.dim)


class Sigmoid(Module):
    def forward(self, input):
        return sigmoid(input)


class Tanh(Module):
    def forward(self, input):
        return tanh(input)


class Softsign(Module):
    def forward(self, input):
        return softsign(input)


class LogSigmoid(Module):
    def forward(self, input):
        return logsigmoid(input)


class Softplus(Module):
    def __init__(self, beta=1, threshold=20):
        self.beta = beta

    def forward(self, input):
        return softplus(input, self.beta)


class Softmax(Module):
    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, input):
        return softmax(input, self.dim)


class LogSoftmax(Softmax):
    def forward(self, input):
        return log_softmax(input, self.dim)


class Softmax2d(Module):
    def forward(self, input):
        return softmax(input, 1)


class Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        self.p = p
        self.inplace = inplace

    def forward(self, input):
        return dropout(input, self.p, True, self.inplace)


class Dropout1d(Dropout):
    def forward(self, input):
        return dropout2d(input, self.p, True, self.inplace)


class Dropout2d(Dropout):
    def forward(self, input):
        return dropout2d(input, self.p, True, self.inplace)


class Dropout3d(Dropout):
    def forward(self, input):
        return dropout2d(input, self.p, True, self.inplace)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return flatten(input, self.start_dim, self.end_dim)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        self.dim = dim
        self.sizes = unflattened_size

    def forward(self, input):
        return unflatten(input, self.dim, self.sizes)


class _MaxPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1,
            return_indices=False, ceil_mode=False):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.ceil_mode = ceil_mode
        _no_indices(return_indices)

    def forward(self, input):
        return _pool(self.call, input, self.kernel_size, self.stride,
                self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    call = "max_pool1d"


class MaxPool2d(_MaxPool):
    call = "max_pool2d"


class MaxPool3d(_MaxPool):
    call = "max_pool3d"


class _AvgPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False,
            count_include_pad=True,
                 divisor_override=None):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return _pool(self.call, input, self.kernel_size, self.stride,
                self.padding, 1, self.ceil_mode,
                     count_include_pad=self.count_include_pad,
                     divisor_override=self.divisor_override)


class AvgPool1d(_AvgPool):
    call = "avg_pool1d"


class AvgPool2d(_AvgPool):
    call = "avg_pool2d"


class AvgPool3d(_AvgPool):
    call = "avg_pool3d"


class _AdaptivePool(Module):
    def __init__(self, output_size, return_indices=False):
        self.output_size = output_size
        _no_indices(return_indices)

    def forward(self, input):
        return _adaptive(self.call, input, self.output_size)


class AdaptiveAvgPool1d(_AdaptivePool):
    call = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePool):
    call = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePool):
    call = "adaptive_avg_pool3d"


class AdaptiveMaxPool2d(_AdaptivePool):
    call = "adaptive_max_pool2d"


class Upsample(Module):
    def __init__(self, size=None, scale_factor=None, mode="nearest",
            align_corners=None,
                 recompute_scale_factor=None):
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, input):
        return interpolate(input, self.size, self.scale_factor, self.mode,
                self.align_corners)


class UpsamplingNearest2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    def __init__(self, upscale_factor):
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return pixel_shuffle(input, self.upscale_factor)


class _Pad(Module):
    def __init__(self, padding, value=0.0):
        self.padding = _list(padding, 2 * self.axes)
        self.value = value

    def forward(self, input):
        _sized(input)
        if self.axes == 1:
            _channels_first(input)
        return pad(input, self.padding, self.mode, self.value)


class ZeroPad1d(_Pad):
    axes = 1
    mode = "constant"


class ZeroPad2d(_Pad):
    axes = 2
    mode = "constant"


class ConstantPad1d(ZeroPad1d):
    pass


class ConstantPad2d(ZeroPad2d):
    pass


class ReflectionPad1d(_Pad):
    axes = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    axes = 2
    mode = "reflect"


class ReplicationPad2d(_Pad):
    axes = 2
    mode = "replicate"


# Recurrent layers

class _Recurrent(Module):
    def __init__(self, input_size, hidden_size, num_layers=1, bias=True,
            batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, nonlinearity="tanh",
                 device=None, dtype=None):
        if proj_size or nonlinearity != "tanh":
            raise ValueError(
                "`proj_size` and other functions than tanh are not supported")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        ways = ["", "_reverse"] if bidirectional else [""]
        gates = self.gates * hidden_size
        self._names = []
        for layer in range(num_layers):
            size = hidden_size * len(ways) if layer else input_size
            for way in ways:
                end = "l%d%s" % (layer, way)
                self._put("weight_ih_" + end, [gates, size])
                self._put("weight_hh_" + end, [gates, hidden_size])
                if bias:
                    self._put("bias_ih_" + end, [gates])
                    self._put("bias_hh_" + end, [gates])

    def _put(self, name, sizes):
        setattr(self, name, Parameter(_leaf(sizes)))
        self._names.append(name)

    def flatten_parameters(self):
        pass

    def forward(self, input, hx=None):
        if _is_open(input):
            _ask(input, "LENGTHx%d" % self.input_size)
        if len(input.shape) != 3 or not _fits(input.shape[2], self.input_size):
            raise ValueError("it needs %d features, but gets sizes %s"
                    % (self.input_size, input.shape))
        ways = 2 if self.bidirectional else 1
        if not self.batch_first:
            _steps_first(input)
        batch = input.shape[0] if self.batch_first else input.shape[1]
        state = [self.num_layers * ways, batch, self.hidden_size]
        sizes = [list(input.shape[:2]) + [ways * self.hidden_size], state]
        for x in (hx if isinstance(hx, (list, tuple)) else [hx]):
            if x is not None and not _fits(list(x.shape), state):
                raise ValueError("it needs a state of sizes %s, but gets %s"
                        % (state, x.shape))
        if self.call == "lstm":
            sizes.append(state)
        out = _aten_many(self.call, sizes, None, input=input,
                hx=self._state(hx),
                         params=[getattr(self, n)
                                 for n in self._names], has_biases=self.bias,
                         num_layers=self.num_layers, dropout=self.dropout,
                         bidirectional=self.bidirectional,
                         batch_first=self.batch_first)
        if self.call == "lstm":
            return out[0], (out[1], out[2])
        return out[0], out[1]

    def _state(self, hx):
        if isinstance(hx, tuple):
            hx = list(hx)
        for x in (hx if isinstance(hx, list) else [hx]):
            if _is_tensor(x) and x in _zeros:
                return None
        return hx


_zeros = []


class LSTM(_Recurrent):
    gates = 4
    call = "lstm"


class GRU(_Recurrent):
    gates = 3
    call = "gru"


class RNN(_Recurrent):
    gates = 1
    call = "rnn_tanh"


class _Cell(Module):
    def __init__(self, input_size, hidden_size, bias=True, device=None,
            dtype=None):
        self.hidden_size = hidden_size
        self.weight_ih = Parameter(_leaf([self.gates * hidden_size,
                input_size]))
        self.weight_hh = Parameter(_leaf([self.gates * hidden_size,
                hidden_size]))
        self.bias_ih = Parameter(_leaf([
                self.gates * hidden_size])) if bias else None
        self.bias_hh = Parameter(_leaf([
                self.gates * hidden_size])) if bias else None


class LSTMCell(_Cell):
    gates = 4

    def forward(self, input, hx=None):
        if hx is None:
            raise ValueError("a cell without a state is not supported")
        h, c = hx
        sums = linear(input, self.weight_ih, self.bias_ih) + linear(h,
                self.weight_hh, self.bias_hh)
        i, f, g, o = chunk(sums, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c


class GRUCell(_Cell):
    gates = 3

    def forward(self, input, hx=None):
        if hx is None:
            raise ValueError("a cell without a state is not supported")
        a = chunk(linear(input, self.weight_ih, self.bias_ih), 3, 1)
        b = chunk(linear(hx, self.weight_hh, self.bias_hh), 3, 1)
        r = sigmoid(a[0] + b[0])
        z = sigmoid(a[1] + b[1])
        n = tanh(a[2] + r * b[2])
        return (1 - z) * n + z * hx


# Attention

def _hidden(mask):
    """Terms of the scores for a mask that is true for what is hidden."""
    if mask is None or mask.dtype == "float32":
        return mask
    return zeros_like(mask, dtype="float32").masked_fill(mask.bool(),
            -_math_inf)


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True,
            add_bias_kv=False, add_zero_attn=False,
                 kdim=None, vdim=None, batch_first=False, device=None,
                 dtype=None):
        if add_bias_kv or add_zero_attn or kdim not in (None,
                embed_dim) or vdim not in (None, embed_dim):
            raise ValueError(
                    "these arguments of MultiheadAttention are not supported")
        if embed_dim % num_heads:
            raise ValueError("%d heads do not divide %d" % (num_heads,
                    embed_dim))
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.in_proj_weight = Parameter(_leaf([3 * embed_dim, embed_dim]))
        self.in_proj_bias = Parameter(_leaf([3 * embed_dim])) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)

    def _heads(self, x):
        b, length, width = x.shape
        return x.view(b, length, self.num_heads,
                width // self.num_heads).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None,
            need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        same = query is key and key is value
        module = 2 if need_weights else 1
        if not self.batch_first:
            module += 2 * _steps_first(query)
            query = query.transpose(0, 1)
            one = key is value
            key = query if same else key.transpose(0, 1)
            value = key if one else value.transpose(0, 1)
        width = self.embed_dim
        if same:
            q, k, v = linear(query, self.in_proj_weight,
                    self.in_proj_bias).chunk(3, -1)
        else:
            parts = [width, 2 * width] if key is value else width
            w = self.in_proj_weight.split(parts, 0)
            b = self.in_proj_bias.split(parts,
                    0) if self.in_proj_bias is not None else (None, None, None)
            q = linear(query, w[0], b[0])
            k = linear(key, w[1], b[1])
            k, v = k.chunk(2, -1) if key is value else (k, linear(value, w[2],
                    b[2]))
        mask = _hidden(attn_mask)
        if mask is not None and len(mask.shape) == 3:
            mask = mask.view(-1, self.num_heads, q.shape[1], k.shape[1])
        if key_padding_mask is not None:
            hidden = (key_padding_mask.float() * -1e9).view(k.shape[0], 1, 1,
                    k.shape[1])
            mask = hidden if mask is None else mask + hidden
        y = scaled_dot_product_attention(self._heads(q), self._heads(k),
                self._heads(v), mask, self.dropout, is_causal=is_causal
                                         and mask is None,
                                         _module=module)
        b, heads, length, each = y.shape
        y = self.out_proj(y.transpose(1, 2).reshape(b, length, width))
        return y if self.batch_first else y.transpose(0, 1), None


def _function(name):
    if not isinstance(name, str):
        return name
    if name == "relu":
        return relu
    if name == "gelu":
        return gelu
    raise ValueError("the function `%s` is not supported" % name)


class TransformerEncoderLayer(Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1,
            activation="relu", layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None,
                 dtype=None):
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias,
                batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _function(activation)

    def _attend(self, x, mask, padding, is_causal):
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask,
                is_causal=is_causal)[0])

    def _feed(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(
                self.linear1(x)))))

    def forward(self, src, src_mask=None, src_key_padding_mask=None,
            is_causal=False):
        if self.norm_first:
            src = src + self._attend(self.norm1(src), src_mask,
                    src_key_padding_mask, is_causal)
            return src + self._feed(self.norm2(src))
        src = self.norm1(src + self._attend(src, src_mask,
                src_key_padding_mask, is_causal))
        return self.norm2(src + self._feed(src))


class TransformerDecoderLayer(TransformerEncoderLayer):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1,
            activation="relu", layer_norm_eps=1e-5, batch_first=False,
            norm_first=False, bias=True, device=None, dtype=None):
        super().__init__(d_model, nhead, dim_feedforward, dropout, activation,
                layer_norm_eps, batch_first, norm_first, bias)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias,
                batch_first=batch_first)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout3 = Dropout(dropout)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None,
            tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False,
                memory_is_causal=False):
        own = lambda x: self.dropout1(self.self_attn(
            x, x, x, tgt_key_padding_mask, False, tgt_mask,
            is_causal=tgt_is_causal)[0])
        cross = lambda x: self.dropout2(self.multihead_attn(
            x, memory, memory, memory_key_padding_mask, False,
            memory_mask)[0])
        feed = lambda x: self.dropout3(self.linear2(self.dropout(
                self.activation(self.linear1(x)))))
        if self.norm_first:
            tgt = tgt + own(self.norm1(tgt))
            tgt = tgt + cross(self.norm2(tgt))
            return tgt + feed(self.norm3(tgt))
        tgt = self.norm1(tgt + own(tgt))
        tgt = self.norm2(tgt + cross(tgt))
        return self.norm3(tgt + feed(tgt))


class TransformerEncoder(Module):
    def __init__(self, encoder_layer, num_layers, norm=None,
            enable_nested_tensor=True, mask_check=True):
        self.layers = ModuleList([deepcopy(encoder_layer)
                for i in range(num_layers)])
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None,
            is_causal=False):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal is True)
        return self.norm(src) if self.norm is not None else src


class TransformerDecoder(Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        self.layers = ModuleList([deepcopy(decoder_layer)
                for i in range(num_layers)])
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None,
            tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False,
                memory_is_causal=False):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask,
                    tgt_key_padding_mask, memory_key_padding_mask)
        return self.norm(tgt) if self.norm is not None else tgt


class Transformer(Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6,
            num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
            activation="relu", custom_encoder=None, custom_decoder=None,
            layer_norm_eps=1e-5, batch_first=False, norm_first=False,
            bias=True, device=None, dtype=None):
        if custom_encoder is not None or custom_decoder is not None:
            raise ValueError("another encoder or decoder is not supported")
        self.batch_first = batch_first
        self.encoder = TransformerEncoder(TransformerEncoderLayer(
            d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, bias),
            num_encoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias))
        self.decoder = TransformerDecoder(TransformerDecoderLayer(
            d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, bias),
            num_decoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias))

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return triu(full((sz, sz), -_math_inf), 1)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None,
            src_key_padding_mask=None, tgt_key_padding_mask=None,
            memory_key_padding_mask=None):
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask,
            tgt_key_padding_mask, memory_key_padding_mask)


# Losses and the like are made, and not called.

class _Loss(Module):
    def forward(self, *args):
        raise ValueError("a loss in `forward` is not supported")


class CrossEntropyLoss(_Loss):
    pass


class NLLLoss(_Loss):
    pass


class MSELoss(_Loss):
    pass


class L1Loss(_Loss):
    pass


class SmoothL1Loss(_Loss):
    pass


class BCELoss(_Loss):
    pass


class BCEWithLogitsLoss(_Loss):
    pass


def checkpoint(function, *args, use_reentrant=None):
    return function(*args)


def _pair(x):
    return x if isinstance(x, (list, tuple)) else (x, x)
