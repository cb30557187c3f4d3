"""make_events.py FILE: an event file by TensorBoard's own code (pip install tensorboard), with the
values that tests/log/event_test.cpp expects.  Written to
tests/libfuzzer/corpus/events/tensorboard.tfevents."""

import struct
import sys
import zlib

from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def png(width, height, grey):
    def chunk(kind, body):
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)

    rows = b"".join(b"\0" + grey[y * width : (y + 1) * width] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


Value = summary_pb2.Summary.Value
events = [event_pb2.Event(wall_time=1700000000, file_version="brain.Event:2")]


def add(step, *values, time=0.0):
    summary = summary_pb2.Summary(value=values)
    events.append(event_pb2.Event(wall_time=1700000000.5 + time, step=step, summary=summary))


for i in range(3):
    add(10 * i, Value(tag="loss", simple_value=2 - 0.5 * i), time=i)
add(30, Value(tag="weights", histo=summary_pb2.HistogramProto(
    min=-0.5, max=0.9, num=5, sum=1, sum_squares=2, bucket_limit=[-1, 0, 1], bucket=[0, 2, 3])))
add(40, Value(tag="picture", image=summary_pb2.Summary.Image(
    width=2, height=1, colorspace=1, encoded_image_string=png(2, 1, b"\x10\xf0"))))
text = tensor_pb2.TensorProto(
    dtype=types_pb2.DT_STRING, string_val=["größer".encode()],
    tensor_shape=tensor_shape_pb2.TensorShapeProto(
        dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]))
plugin = summary_pb2.SummaryMetadata(
    plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="text"))
add(50, Value(tag="notes", tensor=text, metadata=plugin))
numbers = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.0])
add(-1, Value(tag="a kind that is passed over", tensor=numbers),
    Value(tag="second of a summary", simple_value=1))

with open(sys.argv[1], "wb") as file:
    writer = RecordWriter(file)
    for event in events:
        writer.write(event.SerializeToString())
