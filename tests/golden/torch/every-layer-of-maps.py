# maps, by netc 0.3.0:
# 3,397 parameters, 843,661 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Learned(nn.Module):
    """Learned tensors by themselves."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_parameter(name, nn.Parameter(tensor))


try:
    from torch.nn.functional import rms_norm
except ImportError:  # PyTorch before 2.4
    def rms_norm(x, features, weight=None, eps=1e-5):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


try:
    from torch.nn import RMSNorm
except ImportError:  # PyTorch before 2.4
    class RMSNorm(nn.Module):
        def __init__(self, features, eps):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(features))
            self.eps = eps

        def forward(self, x):
            mean = x.pow(2).mean(-1, keepdim=True)
            return x * torch.rsqrt(mean + self.eps) * self.weight


class Maps(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(6, 8, (3, 2), stride=(2, 1), padding=(1, 0),
                               dilation=(1, 2), groups=2, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, (4, 3))
        self.dwconv = nn.Conv2d(8, 16, 3, padding=1, groups=8, bias=False)
        self.deconv1 = nn.ConvTranspose2d(16, 12, (3, 2), stride=2, padding=1,
                                          output_padding=(1, 0), groups=2)
        self.deconv2 = nn.ConvTranspose2d(12, 12, 3, stride=2)
        self.gn = nn.GroupNorm(3, 12)
        self.instnorm = nn.InstanceNorm2d(12, affine=True)
        self.prelu = nn.PReLU(12)
        self.bn2 = nn.BatchNorm2d(12, eps=0.001, affine=False)
        self.keep = nn.Conv2d(12, 8, 1)
        self.conv3 = nn.Conv2d(8, 3, 1)
        self.scale = Learned(weight=torch.ones(11))
        self.conv4 = nn.Conv2d(11, 11, 1)
        self.ln = nn.LayerNorm(9)
        self.rmsnorm = RMSNorm(9, eps=1e-05)
        self.linear = nn.Linear(9, 6)

    def forward(self, x: Tensor) -> Tensor:
        x = self.bn1(self.conv1(x))
        x = F.relu6(self.conv2(F.pad(x, (1, 1, 1, 2))), inplace=True)
        x = self.dwconv(x)
        x = F.leaky_relu(x, negative_slope=0.2, inplace=True)
        x = self.deconv1(x)
        x = self.deconv2(x)[:, :, 0:32, 1:61]
        x = F.elu(x, alpha=0.5, inplace=True)
        x = self.gn(x)
        x = F.group_norm(x, 4)
        x = self.instnorm(x)
        x = F.instance_norm(x, eps=0.001)
        x = self.prelu(x)
        x = F.max_pool2d(x, 3, 2, padding=1, ceil_mode=True)
        x = F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=-math.inf), 2, 1)
        x = F.avg_pool2d(x, 3, 2, padding=1)
        x = F.avg_pool2d(F.pad(x, (1, 0, 0, 1)), 2, 1)
        x = F.local_response_norm(x, 5)
        x = F.selu(x)
        x = torch.roll(x, (1, -2), (2, 3))
        x = F.pad(x, (1, 2, 1, 2), mode="reflect")
        x = F.pad(x, (0, 0, 1, 1), mode="replicate")
        x = F.pad(x, (1, 1, 1, 1))
        x = x[:, :, 2:14, 5:15]
        x = self.bn2(x)
        x = self.keep(x)
        x = x.unflatten(1, (4, -1)).transpose(1, 2).flatten(1, 2)
        x = F.interpolate(x, scale_factor=2)
        x = F.interpolate(x, scale_factor=(1, 2), mode="bilinear")
        x = F.pixel_unshuffle(x, 2)
        x = F.pixel_shuffle(x, 2)
        x = F.adaptive_avg_pool2d(x, (5, 6))
        x = F.mish(x, inplace=True)
        x = F.hardswish(x, inplace=True)
        y = F.hardsigmoid(self.conv3(x))
        x = torch.cat([x, y], 1)
        x = x * self.scale.weight[:, None, None]
        y = F.adaptive_avg_pool2d(x, 1)
        y = torch.sigmoid(self.conv4(y))
        x = x * y
        y = F.adaptive_max_pool2d(x, 1)
        z = x[:, 0:1]
        x = x - y - z
        y = torch.tanh(x)
        z = F.softplus(x)
        x = torch.maximum(torch.maximum(x, y), z)
        x = x[..., 1:5]
        x = x[:, :, 2:5]
        x = x[:, 0:9]
        x = F.adaptive_max_pool2d(x, (3, 2))
        x = self.ln(x.movedim(1, -1))
        x = self.rmsnorm(x)
        x = rms_norm(x, (9,), eps=0.0001)
        x = F.gelu(self.linear(x))
        x = F.layer_norm(x, (6,))
        x = F.softmax(x, 3)
        x = x.permute(0, 3, 1, 2)
        x = x.flatten(2, 3)
        return F.log_softmax(x, 2)


if __name__ == "__main__":
    net = Maps().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 15, 18))
    print(tuple(out.shape))
