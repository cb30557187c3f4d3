"""Texts for the comparison of tokenizers: what people write, and what only a fuzzer does.

Random characters are those of Unicode 3.2 that are today what they were: the tables of the libraries
that are compared are of different versions, and those that Hugging Face's BERT uses of Unicode 8.
"""
import glob
import os
import random
import subprocess
import unicodedata

JAPANESE = ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で"
            "ニャーニャー泣いていた事だけは記憶している。ガガﾊﾞ２０２６年１１月２２日（日）")
EMOJI = ("👩‍👩‍👧‍👦 🏳️‍🌈 🇯🇵🇩🇪 👍🏽 ❤️ 🎉 ☺ ☺️ 1️⃣ #️⃣ 🧑‍💻 ⌚")
MARKS = ("e\u0301 a\u0308\u0323 a\u0323\u0308 \u0301x o\u0302\u0301 n\u0303 \u1100\u1161\u11a8 각 "
         "क्षि ไม้ ﷺ ﬁ Å Å Ω ſ 'S 'ſ K Ⅷ ½ ² ㍿ Ａ１ İ ı ǅ ß ŉ")
SPACES = ("a  b   c\t\td\n\ne\r\n\r\nf \n g\n  h\u00a0i\u3000j\u2003k\u200bl\u180em\u2028n\u0085o\u001cp\u00adq"
          "   \n   \n\n      end   ")
PUNCTUATION = ("don't DON'T we'll I'm they've you'd it's 'tis ''' -- ... ?! $9.99 3,141,592.65 100% "
               "a_b __init__ x**2 <= >= != && || ::: /* */ // <br/> https://example.org/?q=1&r=%20 "
               "1 12 123 1234 12345 123456 1234567 café naïve Ünïcödé ＨＴＭＬ ##ing [CLS] <s> ▁ ▁▁a")
OTHER = ("Съешь ещё этих мягких французских булок. Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. "
         "شكرا جزيلا ١٢٣ تشرّفنا. שָׁלוֹם עוֹלָם. 我能吞下玻璃而不伤身体。나는 유리를 먹을 수 있어요. "
         "मैं काँच खा सकता हूँ १२३. ฉันกินกระจกได้ ๑๒๓ Tôi có thể ăn thủy tinh.")
MALFORMED = (b"ab\xffcd \xc3( \xe3\x81 \xf0\x9f\x98 \xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80 "
             b"\xe3\x81\x82\x81\xe3 \xf0\x80\x80\x80 end\xe2\x82")
ASSIGNED = [c for c in map(chr, range(0x110000))
            if unicodedata.category(c) not in ("Cn", "Cs", "Co")
            and unicodedata.category(c) == unicodedata.ucd_3_2_0.category(c)]


def random_text(seed, length):
    """Characters of all of Unicode, and runs of those that pre-tokenizers look at."""
    rng = random.Random(seed)
    common = "abcXYZ 019\n\t.,'!-_  \r\n\u00e9\u0301\u3042\u4e00\u1100"
    out = []
    while len(out) < length:
        kind = rng.randrange(4)
        if kind == 0:
            out += rng.choices(ASSIGNED, k=rng.randrange(1, 6))
        elif kind == 1:
            out += rng.choice(common) * rng.randrange(1, 9)
        else:
            out += rng.choices(common, k=rng.randrange(1, 12))
    return "".join(out[:length])


def bible(verses):
    """Some of the King James Bible, by Debian's bible-kjv."""
    return subprocess.run(["bible", verses], capture_output=True, check=True, text=True).stdout


def source_code(root, most):
    text = ""
    for path in sorted(glob.glob(os.path.join(root, "croze", "**", "*.cpp"), recursive=True)):
        text += open(path, encoding="utf-8").read()
        if len(text) >= most:
            break
    return text[:most]


def small(root):
    """(name, bytes) of texts that are checked in."""
    texts = {
        "empty": "", "space": " ", "hello": "Hello, world!", "japanese": JAPANESE, "emoji": EMOJI,
        "marks": MARKS, "spaces": SPACES, "punctuation": PUNCTUATION, "other": OTHER,
        "special": "<s>Hi <|end|> there<|end|>\n[MASK]  x <extra> y<extra>z</s>",
        "bible": bible("gen1:1-5"), "random": random_text(1, 1500),
    }
    result = [(name, text.encode()) for name, text in texts.items()]
    return result + [("malformed", MALFORMED)]


def big(root, size):
    """`size` bytes, about: half of it English, the rest of all kinds, some of it malformed."""
    rng = random.Random(2)
    pieces = [JAPANESE, EMOJI, MARKS, SPACES, PUNCTUATION, OTHER]
    mixed = "".join(rng.choice(pieces) + rng.choice(" \n") for _ in range(size // 1500))
    text = bible("gen1:1-rev22:21")[:size // 2] + source_code(root, size // 5) + mixed
    text += random_text(3, size // 16)
    return text.encode() + b" ".join(MALFORMED for _ in range(200))
