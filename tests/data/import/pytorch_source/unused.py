import torch.nn as nn


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.aux = nn.Linear(16, 3)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        x = self.body(x)
        if self.training:
            return self.head(x), self.aux(x)
        return self.head(x)
