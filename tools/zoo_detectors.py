"""Detectors and segmenters of examples/zoo/, for zoo_models.py.

Detectors are made of torchvision's own modules, without what chooses boxes; a
frozen batch norm is a factor and a term for each channel, which torchvision
computes from four buffers in every step. Segmenters are written after the
program that the row names, with dropout of values where it drops channels.
"""
import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torchvision.models.detection import (FCOS, FasterRCNN, MaskRCNN,
                                          RetinaNet, ssd, ssdlite)
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.models.detection.rpn import concat_box_prediction_layers
from torchvision.ops.feature_pyramid_network import LastLevelP6P7


class Frozen(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("factor", torch.ones(1, channels, 1, 1))
        self.register_buffer("term", torch.zeros(1, channels, 1, 1))

    def forward(self, x):
        return x * self.factor + self.term


def resnet50(**more):
    return torchvision.models.resnet50(weights=None, **more)


def pyramid(p7=True):
    more = {"returned_layers": [2, 3, 4],
            "extra_blocks": LastLevelP6P7(256, 256)} if p7 else {}
    return _resnet_fpn_extractor(resnet50(norm_layer=Frozen), 3, **more)


class Dense(nn.Module):
    """A detector without proposals."""

    def __init__(self, made):
        super().__init__()
        self.made = made

    def forward(self, x):
        return list(self.made.head(list(self.made.backbone(x).values()))
                    .values())


def dense(name, build):
    def make():
        model = Dense(build())
        model.__doc__ = f"torchvision {name}"
        return model
    return make


class Proposals(nn.Module):
    def __init__(self, kind, name):
        super().__init__()
        self.made = kind(pyramid(False), 91)
        self.__doc__ = f"torchvision {name}"

    def forward(self, picture, boxes, found=None):
        maps, net = self.made.backbone(picture), self.made
        rpn = concat_box_prediction_layers(*net.rpn.head(list(maps.values())))
        sizes, heads = [picture.shape[2:]] * len(picture), net.roi_heads
        x = heads.box_roi_pool(maps, list(boxes), sizes)
        outs = [*rpn, *heads.box_predictor(heads.box_head(x))]
        if found is not None:
            x = heads.mask_roi_pool(maps, list(found), sizes)
            outs.append(heads.mask_predictor(heads.mask_head(x)))
        return outs


def boxes(count):
    """A quarter for each map: of 64, 160, 320 and 640 values."""
    sides = torch.tensor([64., 160, 320, 640]).repeat_interleave(count // 4)
    each = torch.stack([0 * sides, 0 * sides, sides, sides], 1)
    return lambda n: each.expand(n, -1, -1).clone()


def norm(c, width, k=1, s=1, act=True):
    return nn.Sequential(nn.Conv2d(c, width, k, s, k // 2, bias=False),
                         nn.BatchNorm2d(width), nn.ReLU(act))


def resize(x, size, mode="bilinear"):
    return F.interpolate(x, size=size, mode=mode)


class Segmenter(nn.Module):
    """mmseg's ResNetV1c and its heads"""

    def __init__(self, dilate=False, auxiliary=True, width=512):
        super().__init__()
        self.body = resnet50(replace_stride_with_dilation=[False, dilate,
                                                           dilate])
        self.body.fc = None
        self.body.conv1 = nn.Sequential(norm(3, 32, 3, 2), norm(32, 32, 3),
                                        nn.Conv2d(32, 64, 3, 1, 1, bias=False))
        self.last = nn.Sequential(nn.Dropout(0.1), nn.Conv2d(width, 150, 1))
        self.auxiliary = nn.Sequential(
            norm(1024, 256, 3), nn.Dropout(0.1), nn.Conv2d(256, 150, 1)) \
            if auxiliary else None

    def forward(self, x):
        size, b = x.shape[2:], self.body
        x = b.maxpool(b.relu(b.bn1(b.conv1(x))))
        maps = []
        for stage in b.layer1, b.layer2, b.layer3, b.layer4:
            x = stage(x)
            maps.append(x)
        outs = [self.last(self.decode(maps))]
        if self.training and self.auxiliary:
            outs.append(self.auxiliary(maps[2]))
        return [resize(out, size) for out in outs]


class SemanticFpn(Segmenter):
    """open-mmlab/mmsegmentation fpn_r50"""

    def __init__(self):
        super().__init__(auxiliary=False, width=128)
        self.inner = nn.ModuleList(nn.Conv2d(256 * 2 ** i, 256, 1)
                                   for i in range(4))
        self.outer = nn.ModuleList(nn.Conv2d(256, 256, 3, 1, 1)
                                   for i in range(4))
        self.scales = nn.ModuleList(nn.ModuleList(
            norm(128 if j else 256, 128, 3) for j in range(max(1, i)))
            for i in range(4))

    def decode(self, maps):
        maps = [inner(x) for inner, x in zip(self.inner, maps)]
        for i in 3, 2, 1:
            maps[i - 1] = maps[i - 1] + resize(maps[i], maps[i - 1].shape[2:],
                                               "nearest")
        out = 0
        for i, scale in enumerate(self.scales):
            x = self.outer[i](maps[i])
            for block in scale:
                x = block(x)
                if i:
                    x = F.interpolate(x, scale_factor=2, mode="bilinear")
            out = out + x if i else x
        return out


class PyramidPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleList(
            nn.Sequential(nn.AdaptiveAvgPool2d(n), norm(2048, 512))
            for n in (1, 2, 3, 6))
        self.mix = norm(4096, 512, 3)

    def forward(self, x):
        return self.mix(torch.cat([x, *(resize(level(x), x.shape[2:])
                                        for level in self.levels)], 1))


class PspNet(Segmenter):
    """open-mmlab/mmsegmentation pspnet_r50-d8"""

    def __init__(self):
        super().__init__(dilate=True)
        self.pool = PyramidPool()

    def decode(self, maps):
        return self.pool(maps[3])


class UperNet(Segmenter):
    """open-mmlab/mmsegmentation upernet_r50"""

    def __init__(self):
        super().__init__()
        self.pool = PyramidPool()
        self.inner = nn.ModuleList(norm(256 * 2 ** i, 512, act=False)
                                   for i in range(3))
        self.outer = nn.ModuleList(norm(512, 512, 3, act=False)
                                   for i in range(3))
        self.mix = norm(2048, 512, 3)

    def decode(self, maps):
        maps = [*(inner(x) for inner, x in zip(self.inner, maps)),
                self.pool(maps[3])]
        for i in 3, 2, 1:
            maps[i - 1] = maps[i - 1] + resize(maps[i], maps[i - 1].shape[2:])
        outs = [*(outer(x) for outer, x in zip(self.outer, maps)), maps[3]]
        return self.mix(torch.cat(
            [outs[0], *(resize(x, outs[0].shape[2:]) for x in outs[1:])], 1))


class UnetPlusPlus(nn.Module):
    """4uiiurz1/pytorch-nested-unet archs.py NestedUNet"""

    def __init__(self, deep):
        super().__init__()
        widths = [32 * 2 ** i for i in range(5)]

        def twice(c, width):
            return nn.Sequential(*(layer for given in (c, width) for layer in (
                nn.Conv2d(given, width, 3, padding=1), nn.BatchNorm2d(width),
                nn.ReLU(True))))
        self.x = nn.ModuleDict({
            f"{i}_{j}": twice(j * widths[i] + widths[i + 1] if j else
                              widths[i - 1] if i else 3, widths[i])
            for i in range(5) for j in range(5 - i)})
        self.last = nn.ModuleList(nn.Conv2d(32, 1, 1)
                                  for _ in range(4 if deep else 1))

    def forward(self, given):
        x = {}
        for s in range(5):
            x[s, 0] = self.x[f"{s}_0"](F.max_pool2d(x[s - 1, 0], 2, 2)
                                       if s else given)
            for j in range(1, s + 1):
                i = s - j
                up = F.interpolate(x[i + 1, j - 1], scale_factor=2,
                                   mode="bilinear", align_corners=True)
                x[i, j] = self.x[f"{i}_{j}"](
                    torch.cat([*(x[i, k] for k in range(j)), up], 1))
        outs = [x[0, j] for j in range(1, 5)][-len(self.last):]
        return [last(out) for last, out in zip(self.last, outs)]


def picture(height, width=None):
    return lambda n: torch.zeros(n, 3, height, width or height)


def ssd300():
    """As with weights: the first two convolutions are not trained."""
    model = ssd.ssd300_vgg16(weights=None, weights_backbone=None)
    for layer in list(model.backbone.features)[:4]:
        layer.requires_grad_(False)
    return model


MODELS = [
    ("retinanet", "high=256",
     dense("retinanet_resnet50_fpn", lambda: RetinaNet(pyramid(), 91)),
     [picture(256)]),
    ("retinanet", "high=200 wide=328",
     dense("retinanet_resnet50_fpn", lambda: RetinaNet(pyramid(), 91)),
     [picture(200, 328)]),
    ("faster_rcnn", "high=128 proposals=32",
     lambda: Proposals(FasterRCNN, "fasterrcnn_resnet50_fpn"),
     [picture(128), boxes(32)]),
    ("mask_rcnn", "high=128 proposals=32 objects=8",
     lambda: Proposals(MaskRCNN, "maskrcnn_resnet50_fpn"),
     [picture(128), boxes(32), boxes(8)]),
    ("ssd300", "", dense("ssd300_vgg16", ssd300), [picture(300)]),
    ("fcos", "high=128",
     dense("fcos_resnet50_fpn", lambda: FCOS(pyramid(), 91)), [picture(128)]),
    ("ssdlite", "", dense(
        "ssdlite320_mobilenet_v3_large",
        lambda: ssdlite.ssdlite320_mobilenet_v3_large(
            weights=None, weights_backbone=None)), [picture(320)]),
    ("semantic_fpn", "side=128", SemanticFpn, [picture(128)]),
    ("pspnet", "side=128", PspNet, [picture(128)]),
    ("upernet", "side=128", UperNet, [picture(128)]),
    ("unetpp", "side=64", lambda: UnetPlusPlus(False), [picture(64)]),
    ("unetpp", "side=64 deep=true", lambda: UnetPlusPlus(True), [picture(64)]),
]
