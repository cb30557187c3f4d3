"""read_with_tensorboard.py LOG_SAMPLE FOLDER: what TensorBoard's own reader finds in the files of
logs::Run (sample.cpp), value by value."""

import io
import math
import shutil
import struct
import subprocess
import sys
import zlib

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as error:
    print(f"skipped: {error} (pip install tensorboard)")
    sys.exit(0)


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def rows_of_png(png):
    """The rows of a PNG of 8 bits whose rows use any of the filters, without a library."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, width, channels = 8, b"", 0, 0
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, _, depth, color = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {0: 1, 4: 2, 2: 3, 6: 4}[color]
        if kind == b"IDAT":
            data += body
        at += 12 + length
    stream, rows, above = io.BytesIO(zlib.decompress(data)), [], bytes(width * channels)
    while head := stream.read(1):
        row = bytearray(stream.read(width * channels))
        for i in range(len(row)):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            guess = left + above[i] - corner
            paeth = min((left, above[i], corner), key=lambda v: abs(guess - v))
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, paeth)[head[0]]) % 256
        rows.append(list(row))
        above = bytes(row)
    return rows


writer, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
subprocess.run([writer, folder], check=True)
everything = {"scalars": 0, "histograms": 0, "images": 0, "tensors": 0}
events = EventAccumulator(f"{folder}/sample", size_guidance=everything)
events.Reload()

tags = events.Tags()
scalars = {"loss", "accuracy/train", "negative step", "infinite", "weights/not finite"}
assert set(tags["scalars"]) == scalars, tags
loss = events.Scalars("loss")
assert [e.step for e in loss] == list(range(1000))
assert [e.value for e in loss] == [float32(1 / (1 + i)) for i in range(1000)]
assert all(a.wall_time <= b.wall_time for a, b in zip(loss, loss[1:]))
accuracy = events.Scalars("accuracy/train")
assert all(abs(e.value - i / 1000) < 1e-7 for i, e in enumerate(accuracy))
assert [(e.step, e.value) for e in events.Scalars("negative step")] == [(-7, -3.5)]
assert events.Scalars("infinite")[0].value == math.inf
assert events.Scalars("weights/not finite")[0].value == 1

(weights,) = events.Histograms("weights")
values = [float32(0.01 * (i - 300)) for i in range(1000)]
h = weights.histogram_value
assert (weights.step, h.num) == (3, 1000)
assert abs(h.min + 3) < 1e-6 and abs(h.max - 6.99) < 1e-6
assert abs(h.sum - sum(values)) < 1e-2
assert abs(h.sum_squares - sum(v * v for v in values)) < 1e-1
# Each bucket against a count of its own; its left end is the right one of the bucket before.
for low, high, count in zip(h.bucket_limit, h.bucket_limit[1:], h.bucket[1:]):
    expected = sum(low <= 0.01 * (i - 300) < high for i in range(1000))
    assert abs(count - expected) <= 1, (low, high, count, expected)
assert sum(h.bucket) == 1000 and h.bucket[0] == 0

(picture,) = events.Images("picture")
assert (picture.step, picture.width, picture.height) == (9, 5, 4)
rows = rows_of_png(picture.encoded_image_string)
assert rows == [[v for x in range(5) for v in (51 * x, 51 * y, 51)] for y in range(4)], rows

(notes,) = events.Tensors("notes")
assert notes.tensor_proto.string_val[0].decode() == "learning rate **0.1**, größer"
assert events.SummaryMetadata("notes").plugin_data.plugin_name == "text"
print("TensorBoard reads all that was written")
