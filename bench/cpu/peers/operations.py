"""operations.py: what PyTorch, oneDNN through it, and onnxruntime do for each operation.

A function of OPERATIONS takes the options of a case and its inputs and returns a run for each peer
that can do it, by name.
"""
import contextlib

import torch.nn.functional as F


@contextlib.contextmanager
def silent_libraries():
    """Two of them that hold the same schemas (Debian's onnx and onnxruntime) complain at length."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


try:
    import onnx as onnx_files
    import onnxruntime
except ImportError as problem:
    onnxruntime, onnx_problem = None, str(problem)

OPERATIONS = {}
THREADS = 1


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


def set_up(threads, is_limited):
    """PyTorch and oneDNN have read from the environment which vectors they may use, if not all."""
    global THREADS, onnxruntime, onnx_problem
    THREADS = threads
    if is_limited:
        onnxruntime, onnx_problem = None, "it cannot be held to narrower vectors"
    torch.set_num_threads(threads)
    found = {"PyTorch": torch.__version__}
    if torch.backends.mkldnn.is_available():
        found["oneDNN"] = "through PyTorch " + torch.__version__
    missing = {}
    if onnxruntime:
        found["onnxruntime"] = onnxruntime.__version__
    else:
        missing["onnxruntime"] = onnx_problem
    return {"found": found, "missing": missing}


def torch_run(function):
    """Without what gradients would need."""
    def run():
        with torch.inference_mode():
            return function()
    return run


# ---- onnxruntime -------------------------------------------------------------------------------

def session_run(model, inputs):
    """A run of a model, a file or bytes, over tensors that lie where they are used."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    # Its threads would look for work while others have their turns.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    with silent_libraries():
        session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, tensor in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(tensor))
    for output in session.get_outputs():
        binding.bind_output(output.name)
    count = len(session.get_outputs())

    def run():
        session.run_with_iobinding(binding)
        return Outputs(binding, count)
    return run


class Outputs(list):
    """Results of onnxruntime, which are looked at seldom."""
    def __init__(self, binding, count):
        super().__init__(range(count))
        self.binding = binding

    def __iter__(self):
        return (torch.from_numpy(value.copy()) for value in self.binding.copy_outputs_to_cpu())


def onnx_run(op_type, inputs, weights=None, **attributes):
    """A model of one operator; weights are constants of it."""
    weights = weights or {}
    types = {name: onnx_files.helper.np_dtype_to_tensor_dtype(x.dtype)
             for name, x in (inputs | weights).items()}
    node = onnx_files.helper.make_node(op_type, list(inputs) + list(weights), ["y"], **attributes)
    graph = onnx_files.helper.make_graph(
        [node], op_type,
        [onnx_files.helper.make_tensor_value_info(name, types[name], x.shape)
         for name, x in inputs.items()],
        [onnx_files.helper.make_empty_tensor_value_info("y")],
        [onnx_files.numpy_helper.from_array(x, name) for name, x in weights.items()])
    graph.output[0].type.tensor_type.elem_type = list(types.values())[0]
    opset = onnx_files.helper.make_opsetid("", 17)
    model = onnx_files.helper.make_model(graph, opset_imports=[opset])
    model.ir_version = 8
    return session_run(model.SerializeToString(), inputs)


@operation
def onnx(options, *inputs):
    if not onnxruntime:
        return {}
    named = {name: x.numpy() for name, x in zip(options["inputs"], inputs)}
    named |= {name: np.array(x, np.int64) for name, x in options["scalars"].items()}
    return {"onnxruntime": session_run(options["path"], named)}


def with_onnx(runs, *arguments, **attributes):
    if onnxruntime:
        runs["onnxruntime"] = onnx_run(*arguments, **attributes)
    return runs


# ---- products and convolutions ------------------------------------------------------------------

@operation
def matmul(options, a, b):
    left = a.mT if options["transpose_a"] else a
    right = b.mT if options["transpose_b"] else b
    if a.dtype == torch.int8:
        return {"PyTorch": torch_run(lambda: torch._int_mm(left, right))}
    runs = {"PyTorch": torch_run(lambda: torch.matmul(left, right))}
    if a.dtype != torch.float32:
        return runs
    if a.dim() == 2:
        # It takes matrices in any order as fast; its function of PyTorch takes this one.
        x, w = left.contiguous().to_mkldnn(), right.mT.contiguous().to_mkldnn()
        runs["oneDNN"] = torch_run(lambda: F.linear(x, w))
    if not options["transpose_a"] and not options["transpose_b"]:
        with_onnx(runs, "MatMul", {"a": a.numpy(), "b": b.numpy()})
    return runs


@operation
def conv(options, x, weight):
    axes = x.dim() - 2
    settings = [options[name] for name in ("stride", "padding", "dilation", "groups")]
    function = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    runs = {"PyTorch": torch_run(lambda: function(x, weight, None, *settings))}
    if axes == 2:
        kernel = weight.contiguous(memory_format=torch.channels_last)

        def by_channels_last():
            image = x.contiguous(memory_format=torch.channels_last)
            return F.conv2d(image, kernel, None, *settings).contiguous()

        runs["PyTorch through channels last"] = torch_run(by_channels_last)
    return with_onnx(runs, "Conv", {"x": x.numpy()}, {"w": weight.numpy()},
                     strides=options["stride"], pads=options["padding"] * 2,
                     dilations=options["dilation"], group=options["groups"])


@operation
def conv_transpose(options, x, weight):
    stride, padding = options["stride"], options["padding"]
    return with_onnx(
        {"PyTorch": torch_run(lambda: F.conv_transpose2d(x, weight, None, stride, padding))},
        "ConvTranspose", {"x": x.numpy()}, {"w": weight.numpy()}, strides=stride,
        pads=padding * 2)


# ---- attention ---------------------------------------------------------------------------------

LARGEST_MATRIX_OF_SCORES = 2048  # beyond it would take gigabytes


@operation
def attention(options, q, k, v):
    def flash():
        return F.scaled_dot_product_attention(q, k, v, is_causal=options["causal"])

    return attention_runs(flash, torch_run, q)


@operation
def attention_and_gradients(options, q, k, v, gradient):
    inputs = [x.requires_grad_() for x in (q, k, v)]

    def forward_and_backward():
        out = F.scaled_dot_product_attention(q, k, v, is_causal=options["causal"])
        return [out, *torch.autograd.grad(out, inputs, gradient)]

    return attention_runs(forward_and_backward, lambda function: function, q)


def attention_runs(function, wrapped, q):
    """By PyTorch's own choice of kernels, and by those that hold all scores."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def by_matrix():
        with sdpa_kernel(SDPBackend.MATH):
            return function()

    runs = {"PyTorch": wrapped(function)}
    if q.shape[-2] <= LARGEST_MATRIX_OF_SCORES:
        runs["PyTorch, whole scores"] = wrapped(by_matrix)
    return runs


# ---- what PyTorch says in one line ---------------------------------------------------------------

SHORT = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer_norm": lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias),
    "rms_norm": lambda x, weight: F.rms_norm(x, x.shape[-1:], weight, 1e-6),
    "sum of rows": lambda x: x.sum(1),
    "max of rows": lambda x: x.amax(1),
    "var of rows": lambda x: x.var(1),
    "logsumexp of rows": lambda x: x.logsumexp(1),
    "norm of rows": lambda x: x.norm(2, 1),
    "sum of columns": lambda x: x.sum(0),
    "softmax of columns": lambda x: torch.softmax(x, 0),
    "mean of squares": lambda x: (x * x).mean(),
    "norm": lambda x: x.norm(),
    "sum of all": lambda x: x.sum(),
    "add": lambda a, b: a + b,
    "multiply and add": lambda a, b, c: torch.addcmul(c, a, b),
    "scale and shift": lambda x: x * 2.5 + 1,
    "relu": lambda x: torch.relu(x),
    "where": lambda a, b: torch.where(a > 0, a, b),
    "less": lambda a, b: a < b,
    "divide by sum": lambda a, b: a / (b + 2),
    "sqrt of square": lambda x: torch.sqrt(x * x + 1),
    "exp": lambda x: torch.exp(x),
    "log1p of square": lambda x: torch.log1p(x * x),
    "tanh": lambda x: torch.tanh(x),
    "sigmoid": lambda x: torch.sigmoid(x),
    "silu": lambda x: F.silu(x),
    "gelu": lambda x: F.gelu(x),
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "erf": lambda x: torch.erf(x),
    "sin": lambda x: torch.sin(x),
    "to bfloat16": lambda x: x.to(torch.bfloat16),
    "to float16": lambda x: x.to(torch.float16),
    "from bfloat16": lambda x: x.to(torch.float32),
    "from int8": lambda x: x.to(torch.float32),
    "add bfloat16": lambda a, b: a + b,
    "uniform": lambda x: torch.rand_like(x),
    "normal": lambda x: torch.randn_like(x),
    "dot": lambda a, b: torch.dot(a, b),
    "outer": lambda a, b: torch.outer(a, b),
    "transpose": lambda x: x.mT.contiguous(),
    "to channels last": lambda x: x.permute(0, 2, 3, 1).contiguous(),
    "swap heads": lambda x: x.transpose(1, 2).contiguous(),
    "join rows": lambda a, b: torch.cat([a, b], 0),
    "join columns": lambda a, b: torch.cat([a, b], 1),
    "pad": lambda x: F.pad(x, [1, 1, 1, 1]),
    "embedding": lambda table, index: F.embedding(index, table),
    "index_select": lambda x, index: x.index_select(0, index),
    "gather": lambda x, index: x.gather(1, index),
    "index_add": lambda x, index, source: x.index_add(0, index, source),
    "cumsum": lambda x: x.cumsum(-1),
    "cumsum of columns": lambda x: x.cumsum(0),
    "argmax": lambda x: x.argmax(1),
    "argmax of columns": lambda x: x.argmax(0),
    "max with indices": lambda x: tuple(x.max(1)),
    "sort": lambda x: tuple(x.sort()),
    "topk": lambda x: tuple(x.topk(50)),
}


def short_operation(function):
    def runs(options, *inputs):
        return {"PyTorch": torch_run(lambda: function(*inputs))}
    return runs


OPERATIONS.update({name: short_operation(function) for name, function in SHORT.items()})
