import torch
import torch.nn as nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab, d_model=32):
        super().__init__()
        self.src_embed = nn.Embedding(vocab, d_model)
        self.tgt_embed = nn.Embedding(vocab, d_model)
        self.transformer = nn.Transformer(d_model, nhead=4, num_encoder_layers=2, num_decoder_layers=1,
                                          dim_feedforward=48, batch_first=True)
        self.out = nn.Linear(d_model, vocab)

    def forward(self, src, tgt):
        x = self.transformer(self.src_embed(src), self.tgt_embed(tgt))
        return self.out(x[:, [-1], :])
