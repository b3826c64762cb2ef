"""netc's figures of a net beside PyTorch's, and which of them differ."""
from measure import FIGURES, measure
from net import build
from netc import netc_figures


def compare(netc, net, smaller=lambda text: True):
    """Text, what both have, and the figures that differ; None if the text is
    not `smaller`."""
    text, program = build(net)
    if not smaller(text):
        return None
    truth = measure(program)
    told = netc_figures(netc, text, net.picks["batch"])
    if "error" in told:
        return text, told, truth, ["error"]
    return text, told, truth, [name for name in FIGURES
                               if told[name] != truth[name]]
