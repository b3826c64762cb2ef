# flattened-maps, by netc 0.3.0:
# 11,395 parameters, 24,995 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class FlattenedMaps(nn.Module):
    """Gives (dense, groups, shuffled, sliced, sequence, again_a_map,
    another_map, generated, generated_sequence, joined, decoded, part,
    decoded_map, pooled, scores)."""

    def __init__(self):
        super().__init__()
        self.map = nn.Conv2d(3, 5, 3, padding=1)
        self.vector = nn.BatchNorm1d(120)
        self.linear1 = nn.Linear(120, 7, bias=False)
        self.bn1 = nn.BatchNorm1d(7)
        self.fc1 = nn.Linear(120, 3)
        self.linear2 = nn.Linear(120, 3)
        self.linear3 = nn.Linear(45, 3)
        self.linear4 = nn.Linear(20, 4)
        self.fc2 = nn.Linear(24, 3)
        self.conv1 = nn.Conv2d(5, 2, 1)
        self.conv2 = nn.Conv2d(5, 2, 1)
        self.linear5 = nn.Linear(120, 24, bias=False)
        self.bn2 = nn.BatchNorm1d(24)
        self.deconv = nn.ConvTranspose2d(4, 3, 2, stride=2)
        self.linear6 = nn.Linear(120, 24)
        self.conv3 = nn.Conv1d(4, 3, 3)
        self.fc3 = nn.Linear(12, 2)
        self.fc4 = nn.Linear(5, 4)
        self.linear7 = nn.Linear(124, 6)
        self.code = nn.Linear(120, 8, bias=False)
        self.conv4 = nn.Conv2d(5, 2, 1)
        self.conv5 = nn.Conv1d(5, 4, 3, padding=1)
        self.prelu = nn.PReLU(4)
        self.fc5 = nn.Linear(16, 3)
        self.lstm = nn.LSTM(4, 6, batch_first=True, bidirectional=True)
        self.linear8 = nn.Linear(144, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor,
                                          Tensor, Tensor, Tensor, Tensor,
                                          Tensor, Tensor, Tensor, Tensor,
                                          Tensor, Tensor, Tensor]:
        map = self.map(x)
        x = map.flatten(1)
        vector = F.relu(self.vector(x), inplace=True)
        x = self.bn1(self.linear1(vector))
        y = F.group_norm(vector.unflatten(1,
                                          (5, 4, 6)).movedim(1, -1).flatten(1),
                         5)
        y = self.fc1(y.unflatten(1, (4, 6, 5)).movedim(-1, 1).flatten(1))
        z = vector.unflatten(1, (5, 4, 6)).movedim(1,
                                                   -1).flatten(1).unflatten(
            1, (4, -1)).transpose(1, 2).flatten(1, 2)
        z = self.linear2(z.unflatten(1, (4, 6, 5)).movedim(-1, 1).flatten(1))
        u = vector.unflatten(1, (5, 4, 6)).movedim(1, -1).flatten(1)[..., 5:50]
        u = self.linear3(u)
        v = vector.unflatten(1, (5, 4, 6)).movedim(1,
                                                   -1).flatten(1).reshape(
            -1, 6, 20)
        v = self.linear4(v)
        v = self.fc2(v.flatten(1))
        w = vector.reshape(-1, 5, 4, 6)
        w = self.conv1(w)
        t1 = vector.unflatten(1, (5, 4, 6)).movedim(1,
                                                    -1).flatten(1).reshape(
            -1, 2, 12, 5)
        t1 = self.conv2(t1.movedim(-1, 1))
        t2 = F.relu(self.bn2(self.linear5(vector)), inplace=True)
        t2 = t2.reshape(-1, 4, 2, 3)
        t2 = self.deconv(t2)
        t3 = self.linear6(vector)
        t3 = t3.reshape(-1, 6, 4)
        t3 = self.conv3(t3.transpose(1, 2))
        t3 = self.fc3(t3.flatten(1))
        t4 = F.adaptive_avg_pool2d(map, 1)
        t4 = self.fc4(t4.flatten(1))
        t4 = torch.cat([vector.unflatten(1,
                                         (5, 4, 6)).movedim(1, -1).flatten(1),
                        t4], 1)
        t4 = self.linear7(t4)
        t5 = map.flatten(1)
        code = self.code(t5)
        t5 = F.linear(code, self.code.weight.t())
        t6 = F.linear(code, self.code.weight.t())
        t6 = t6.unflatten(1, (5, 4, 6)).movedim(1, -1).flatten(1)[..., 3:50]
        t7 = F.linear(code, self.code.weight.t())
        t7 = F.relu(t7, inplace=True)
        t7 = t7.reshape(-1, 5, 4, 6)
        t7 = self.conv4(t7)
        t8 = map.flatten(2).transpose(1, 2)
        t8 = self.conv5(t8.transpose(1, 2))
        t8 = self.prelu(t8)
        t9 = F.adaptive_avg_pool1d(t8, 4)
        t9 = self.fc5(t9.transpose(1, 2).flatten(1))
        t8 = F.max_pool1d(t8, 2)
        t8 = self.lstm(t8.transpose(1, 2))[0]
        t8 = t8.flatten(1)
        t8 = self.linear8(t8)
        return x, y, z, u, v, w, t1, t2, t3, t4, t5.unflatten(1, (
            5, 4, 6)).movedim(1, -1).flatten(1), t6, t7, t9, t8


if __name__ == "__main__":
    net = FlattenedMaps().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 3, 4, 6))
    for each in out:
        print(tuple(each.shape))
