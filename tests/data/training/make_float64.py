#!/usr/bin/env python3
"""The training goldens again in float64: what float32 computations may be compared with tightly.

Usage: make_float64.py [MODEL...]          (default: llama qwen2)
Repeats every run of make_training.py from the files here (MODEL/data.json, MODEL/start, MODEL/NAME.json) with a decoder
of its own, written in plain torch operations in float64 throughout: transformers rounds norms and softmax to float32
whatever the type. Only the rotary tables are the float32 ones of both programs, since they define the model. Writes
MODEL/float64.json: for each run
  loss, grad_norm   of each step, all digits
  norm_spread       of a full run: how far each step's gradient norm moves, relative, in float32: the largest of eight runs
                    of this decoder in float32 whose weights are off by half a unit in the last place at the start
  noise             elements of the adapter that AdamW moves by rounding: see below
and MODEL/NAME.float64.safetensors, the adapter after the last step, rounded to float32.

AdamW divides a gradient by the root of its second moment, so that an element whose gradient is far below its tensor's
moves as far as any other, and by the sign of its rounding error. If each gradient of a tensor is off by r times the
tensor's root mean square gradient S_k at step k, an element moves by up to
  r * n,  n = sum_k lr_k S_k / (sqrt(vhat_k) + eps).
"noise" lists the elements with n above 5 (lr sums to at most 0.012, so these have second moments far below their
tensor's): [tensor, flat index, n].
Versions it was run with: torch 2.15.0, safetensors 0.8.0.
"""
import json
import math
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

from make_training import ACCUMULATE, CLIP, LR, STEPS, WD, lr_at, weights

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent / "models"
PARTS = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
         "mlp.up_proj", "mlp.down_proj"]
REPORTED = 5.0


class Decoder:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {}
        for file in sorted(folder.glob("*.safetensors")):
            self.weights.update({k: v.double() for k, v in load_file(file).items()})
        self.scale, self.adapter = 0.0, {}

    def adapt(self, folder):
        settings = json.loads((folder / "adapter_config.json").read_text())
        self.scale = settings["lora_alpha"] / settings["r"]
        self.adapter = {k: v.double() for k, v in load_file(folder / "adapter_model.safetensors").items()}

    def linear(self, prefix, x):
        y = x @ self.weights[prefix + ".weight"].T
        if prefix + ".bias" in self.weights:
            y = y + self.weights[prefix + ".bias"]
        name = "base_model.model." + prefix
        if name + ".lora_A.weight" in self.adapter:
            y = y + x @ self.adapter[name + ".lora_A.weight"].T @ self.adapter[name + ".lora_B.weight"].T * self.scale
        return y

    def norm(self, name, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.config["rms_norm_eps"]) * self.weights[name]

    def tables(self, rows):
        c = self.config
        d = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
        theta = c.get("rope_theta") or c["rope_parameters"]["rope_theta"]
        inverse = 1.0 / theta ** (torch.arange(0, d, 2, dtype=torch.int64).float() / d)
        angles = torch.arange(rows).float()[:, None] * inverse[None]
        dtype = self.weights["model.norm.weight"].dtype
        return angles.cos().to(dtype)[:, None], angles.sin().to(dtype)[:, None], d

    def log_probs(self, ids):
        """ids [S] -> [S, V] log-probabilities."""
        c, rows = self.config, len(ids)
        cos, sin, d = self.tables(rows)
        heads, kv = c["num_attention_heads"], c["num_key_value_heads"]
        hidden = torch.full((rows, rows), -math.inf, dtype=self.weights["model.norm.weight"].dtype).triu(1)

        def turn(x):
            a, b = x[..., :d // 2], x[..., d // 2:]
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        x = self.weights["model.embed_tokens.weight"][ids]
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            y = self.norm(p + "input_layernorm.weight", x)
            q, k, v = (self.linear(p + f"self_attn.{n}_proj", y).view(rows, -1, d) for n in "qkv")
            q, k = turn(q), turn(k)
            k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
            s = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(d) + hidden
            a = torch.einsum("hij,jhd->ihd", torch.softmax(s, -1), v).reshape(rows, heads * d)
            x = x + self.linear(p + "self_attn.o_proj", a)
            y = self.norm(p + "post_attention_layernorm.weight", x)
            gate, up = self.linear(p + "mlp.gate_proj", y), self.linear(p + "mlp.up_proj", y)
            x = x + self.linear(p + "mlp.down_proj", gate * torch.sigmoid(gate) * up)
        head = self.weights.get("lm_head.weight")
        if head is None or c.get("tie_word_embeddings"):
            head = self.weights["model.embed_tokens.weight"]
        return torch.log_softmax(self.norm("model.norm.weight", x) @ head.T, -1)


def sample_loss(model, base, sample, objective):
    ids, p = torch.tensor(sample["ids"]), sample["prompt_tokens"]
    log_p = model.log_probs(ids)[p - 1:-1]
    objective["target"] = ids[p:]
    nll, mask, weight = weights(objective, log_p, torch.tensor(sample["cuda"], dtype=torch.float64))
    objective.pop("target")
    loss = weight * (mask * nll).sum()
    if objective["name"] == "asft":
        with torch.no_grad():
            log_q = base.log_probs(ids)[p - 1:-1]
        loss = loss + objective["alpha"] * (log_q.exp() * (log_q - log_p)).sum()
    return loss


def run(model, base, data, golden, trained):
    """trained: name -> tensor with requires_grad. Adds its noise up beside the steps."""
    optimizer = torch.optim.AdamW(trained.values(), lr=LR, weight_decay=WD)
    noise = {name: torch.zeros_like(t) for name, t in trained.items()}
    losses, norms, at = [], [], 0
    for step in range(STEPS):
        group = [data[(at + i) % len(data)] for i in range(ACCUMULATE)]
        at += ACCUMULATE
        divisor = sum(len(s["cuda"]) for s in group) if golden["reduction"] == "token_mean" else len(group)
        total = 0.0
        for sample in group:
            loss = sample_loss(model, base, sample, golden["objective"]) / divisor
            loss.backward()
            total += float(loss.detach())
        norms.append(float(torch.nn.utils.clip_grad_norm_(trained.values(), CLIP)))
        losses.append(total)
        rate = lr_at(step, STEPS, golden["schedule"])
        for g in optimizer.param_groups:
            g["lr"] = rate
        sizes = {name: float(t.grad.square().mean().sqrt()) for name, t in trained.items()}
        optimizer.step()
        optimizer.zero_grad()
        for name, t in trained.items():
            second = optimizer.state[t]["exp_avg_sq"] / (1 - 0.999 ** (step + 1))
            noise[name] += rate * sizes[name] / (second.sqrt() + 1e-8)
    return losses, norms, noise


def full_weights(name, float32_seed=None):
    """All weights trained; in float32, each off by a random half unit of its last place, where there is a seed."""
    model = Decoder(MODELS / name)
    if model.config.get("tie_word_embeddings"):
        model.weights.pop("lm_head.weight", None)
    if float32_seed is not None:
        generator = torch.Generator().manual_seed(float32_seed)
        for key, t in model.weights.items():
            model.weights[key] = (t * (1 + 2**-24 * torch.randn(t.shape, dtype=t.dtype, generator=generator))).float()
    for t in model.weights.values():
        t.requires_grad_(True)
    return model


def norm_spread(name, base, data, golden, norms):
    spread = [0.0] * STEPS
    for seed in range(8):
        model = full_weights(name, seed)
        in_float32 = run(model, base, data, golden, model.weights)[1]
        spread = [max(s, abs(a / b - 1)) for s, a, b in zip(spread, in_float32, norms)]
    return spread


def main():
    torch.set_num_threads(1)
    for name in sys.argv[1:] or ["llama", "qwen2"]:
        folder = HERE / name
        data = json.loads((folder / "data.json").read_text())
        base, result = Decoder(MODELS / name), {}
        for file in sorted(folder.glob("*.json")):
            tag = file.stem
            if tag in ("data", "float64"):
                continue
            golden = json.loads(file.read_text())
            if tag.startswith("full-"):
                model = full_weights(name)
                trained = model.weights
            else:
                model = Decoder(MODELS / name)
                model.adapt(folder / "start")
                trained = model.adapter
                for t in trained.values():
                    t.requires_grad_(True)
            losses, norms, noise = run(model, base, data, golden, trained)
            result[tag] = dict(loss=losses, grad_norm=norms, noise=[])
            largest = max(abs(a - s["loss"]) / abs(a) for a, s in zip(losses, golden["steps"]))
            text = f"{name} {tag}: float32 golden's loss off by {largest:.1e}"
            if tag.startswith("full-"):
                result[tag]["norm_spread"] = norm_spread(name, base, data, golden, norms)
                text += f", gradient norms move by up to {max(result[tag]['norm_spread']):.1e}"
            else:
                result[tag]["noise"] = [[k, int(i), round(float(n.flatten()[i]), 2)] for k, n in noise.items()
                                        for i in (n.flatten() > REPORTED).nonzero()[:, 0]]
                save_file({k: v.detach().float() for k, v in trained.items()},
                          folder / f"{tag}.float64.safetensors")
                theirs = load_file(folder / f"{tag}.safetensors")
                off = {k: (v.detach() - theirs[k].double()).abs() for k, v in trained.items()}
                text += f", adapter by {max(float(o.max()) for o in off.values()):.1e}"
                text += f", needs r {max(float((off[k] / noise[k]).max()) for k in off):.1e}"
                text += f", {len(result[tag]['noise'])} elements noisy"
            print(text, flush=True)
        (folder / "float64.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
