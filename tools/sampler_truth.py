#!/usr/bin/python3
"""Measured memory of drawing a word, for tests/data/sampler.csv.

    sampler_truth.py >tests/data/sampler.csv

The bytes that are alive at once beside the scores, as the profiler of
PyTorch 1.13 sees them on a CPU. The functions do what transformers'
generation/utils.py (_sample) and generation/logits_process.py (TopK- and
TopPLogitsWarper) do, and vLLM's vllm/v1/sample/ops/topk_topp_sampler.py. What
torch.sort itself works on is left out: kernels differ.
"""

import torch
from torch.profiler import ProfilerActivity, profile

SEQUENCES, WORDS = 4, 50257
NEVER = -float("inf")


def top_k(scores):
    left_out = scores < torch.topk(scores, 50)[0][..., -1, None]
    return scores.masked_fill(left_out, NEVER)


def top_p(scores):
    ordered, places = torch.sort(scores, descending=False)
    sums = ordered.softmax(dim=-1).cumsum(dim=-1)
    left_out = sums <= 0.1
    left_out[..., -1:] = 0
    mask = left_out.scatter(1, places, left_out)
    return scores.masked_fill(mask, NEVER)


def transformers(*warpers):
    def draw(logits):
        first = logits.to(copy=True, dtype=torch.float32)
        scores = first
        for warper in warpers:
            scores = warper(scores)
        return torch.multinomial(scores.softmax(dim=-1), num_samples=1)

    return draw


def greedy(logits):
    return logits.to(copy=True, dtype=torch.float32).argmax(dim=-1)


def vllm_keep(logits, k, p):
    ordered, places = logits.sort(dim=-1, descending=False)
    least = ordered.gather(1, (WORDS - k).unsqueeze(1))
    mask = ordered < least
    ordered.masked_fill_(mask, NEVER)
    sums = ordered.softmax(dim=-1)
    torch.cumsum(sums, dim=-1, out=sums)
    left_out = sums <= 1 - p.unsqueeze(1)
    left_out[:, -1] = False
    ordered.masked_fill_(left_out, NEVER)
    return ordered.scatter(-1, places, ordered)


def vllm(logits):
    logits = logits.to(torch.float32)
    k = torch.full((SEQUENCES,), 50)
    logits = vllm_keep(logits, k, torch.full((SEQUENCES,), 0.9))
    probabilities = logits.softmax(dim=-1)
    noise = torch.empty_like(probabilities).exponential_()
    return probabilities.div_(noise).argmax(dim=-1)


def peak(draw, logits):
    draw(logits)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as run:
        draw(logits)
    alive = most = 0
    for event in run.profiler.kineto_results.events():
        if event.name() == "[memory]":
            alive += event.nbytes()
            most = max(most, alive)
    return most


def main():
    print("# Peak bytes of drawing a word for each sequence, beside the scores.")
    print(f"# By tools/sampler_truth.py with PyTorch {torch.__version__}.")
    print("# sampler,dtype,sequences,words,bytes")
    samplers = {
        "greedy": greedy,
        "random": transformers(),
        "top_k": transformers(top_k),
        "top_p": transformers(top_p),
        "top_k_top_p": transformers(top_k, top_p),
        "vllm": vllm,
    }
    for name, draw in samplers.items():
        for word, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32)):
            logits = torch.randn(SEQUENCES, WORDS).to(dtype)
            print(f"{name},{word},{SEQUENCES},{WORDS},{peak(draw, logits)}")


if __name__ == "__main__":
    main()
