from torch import nn

hidden = {"a": 128, "b": 64}


class Encoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(784, hidden["a"]), nn.ReLU(),
            nn.Linear(hidden["a"], hidden["b"]), nn.ReLU(),
            nn.Linear(hidden["b"], latent),
        )

    def forward(self, x):
        return self.layers(x)


class Decoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(latent, hidden["b"]), nn.ReLU(),
            nn.Linear(hidden["b"], hidden["a"]), nn.ReLU(),
            nn.Linear(hidden["a"], 784), nn.Sigmoid(),
        )

    def forward(self, z):
        return self.layers(z)


class AutoEncoder(nn.Module):
    def __init__(self, latent=16):
        super().__init__()
        self.encoder, self.decoder = Encoder(latent), Decoder(latent)

    def forward(self, x):
        x = x.view(-1, 784)
        z = self.encoder(x)
        return self.decoder(z)


model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    for batch in loader:
        loss = criterion(model(batch), batch)
        loss.backward()
        optimizer.step()
