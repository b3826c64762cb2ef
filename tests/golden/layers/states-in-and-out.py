# states-in-and-out, by netc 0.3.0:
# 730 parameters, 3,128 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import torch
from torch import Tensor, nn


def with_cell(states, last):
    """The states of an lstm, and its last cell as one more row."""
    return torch.cat([states, last[1].transpose(0, 1)], 1)


class StatesInAndOut(nn.Module):
    """Gives (states, y)."""

    def __init__(self):
        super().__init__()
        self.l = nn.LSTM(6, 8, batch_first=True)
        self.gru = nn.GRU(8, 4, batch_first=True)
        self.rnn = nn.RNN(4, 4, batch_first=True)
        self.fc = nn.Linear(4, 2)

    def forward(self, frames: Tensor, hidden: Tensor, cell: Tensor,
                context: Tensor) -> tuple[Tensor, Tensor]:
        l = with_cell(*self.l(frames,
                              (hidden.reshape(1, -1, 8),
                               cell.reshape(1, -1, 8))))
        x = l[:, 4:6]
        y = l[:, 0:5]
        y = self.gru(y, context.reshape(1, -1, 4))[0]
        y = self.rnn(y, context.reshape(1, -1, 4))[1][-1]
        y = self.fc(y)
        return x, y


if __name__ == "__main__":
    net = StatesInAndOut().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 5, 6), torch.zeros(1, 8), torch.zeros(1, 8),
                  torch.zeros(1, 1, 4))
    for each in out:
        print(tuple(each.shape))
