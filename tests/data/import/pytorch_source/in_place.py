import torch
import torch.nn as nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 16)
        self.c = nn.Linear(16, 4)
        self.d = nn.Dropout(0.2, inplace=True)
        self.e = nn.Dropout(0.3)
    def forward(self, x):
        x = self.d(torch.relu(self.a(x)))
        x = F.dropout(self.b(x), 0.1, self.training, True)
        return self.c(self.e(x))
