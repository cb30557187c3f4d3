// record.mjs -- writes what onnxruntime computes to recorded/*.npz, which models_test.cpp compares
// with.  Needed only to record anew:
//
//   fetch.sh DIR
//   npm install --ignore-scripts --prefix DIR onnxruntime-node pngjs
//   node record.mjs DIR PHOTO.png CLIP.wav
//
// PHOTO is astronaut.png of Debian's python3-skimage, CLIP
// librivox/sense_and_sensibility_01_austen_64kb-0880.wav of pocketsphinx-testdata.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [folder, photo, clip] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, "package.json"));
const ort = require("onnxruntime-node");
const { PNG } = require("pngjs");
const recorded = path.join(path.dirname(fileURLToPath(import.meta.url)), "recorded");

// ---- npz: arrays as numpy.savez writes them --------------------------------------------------

function npy(code, shape, data) {
  const sizes = shape.join(", ") + (shape.length === 1 ? "," : "");
  let header = `{'descr': '${code}', 'fortran_order': False, 'shape': (${sizes}), }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.concat([start, Buffer.from(header), bytes]);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function record(numbers) {
  const bytes = Buffer.alloc(numbers.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of numbers) at = bytes.writeUIntLE(value, at, width);
  return bytes;
}

function writeNpz(file, arrays) {
  const parts = [], directory = [];
  let offset = 0;
  for (const [name, bytes] of Object.entries(arrays)) {
    const packed = zlib.deflateRawSync(bytes, { level: 9 });
    const entry = Buffer.from(name + ".npy");
    const common = [[2, 20], [2, 0], [2, 8], [2, 0], [2, 0x21], [4, crc32(bytes)],
                    [4, packed.length], [4, bytes.length], [2, entry.length], [2, 0]];
    const local = Buffer.concat([record([[4, 0x04034b50], ...common]), entry, packed]);
    directory.push(record([[4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0],
                           [4, offset]]), entry);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory), count = Object.keys(arrays).length;
  const end = record([[4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count],
                      [4, central.length], [4, offset], [2, 0]]);
  fs.mkdirSync(recorded, { recursive: true });
  fs.writeFileSync(path.join(recorded, file), Buffer.concat([...parts, central, end]));
  console.log(file, offset + central.length + end.length, "bytes");
}

// ---- BlazeFace -------------------------------------------------------------------------------

// The photo in means of squares of pixels: (1, size, size, 3) bytes.
function shrunk(image, size) {
  const side = image.width / size, pixels = new Uint8Array(size * size * 3);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let i = 0; i < side * side; i++) {
          const row = y * side + Math.floor(i / side), column = x * side + (i % side);
          sum += image.data[(row * image.width + column) * 4 + c];
        }
        pixels[(y * size + x) * 3 + c] = Math.round(sum / (side * side));
      }
    }
  }
  return pixels;
}

async function recordFaces(kind, size) {
  const model = path.join(folder, `face_detection_${kind}_${size}x${size}_barracuda.onnx`);
  const session = await ort.InferenceSession.create(model);
  const pixels = shrunk(PNG.sync.read(fs.readFileSync(photo)), size);
  const input = Float32Array.from(pixels, (p) => p / 127.5 - 1);
  const name = session.inputNames[0];
  const shape = session.inputMetadata?.[0]?.shape;
  console.log(kind, name, shape);
  const outputs = await session.run({ [name]: new ort.Tensor("float32", input, [1, size, size, 3]) });
  const arrays = { image: npy("|u1", [1, size, size, 3], pixels) };
  for (const [key, value] of Object.entries(outputs)) {
    arrays["output." + key] = npy("<f4", value.dims, value.data);
  }
  writeNpz(`blazeface_${kind}.npz`, arrays);
}

// ---- Silero VAD ------------------------------------------------------------------------------

async function recordSpeech() {
  const session = await ort.InferenceSession.create(path.join(folder, "silero_vad_v5.onnx"));
  const wav = fs.readFileSync(clip);
  const at = wav.indexOf("data") + 8;
  const frames = Math.floor((wav.length - at) / 2 / 512);
  const samples = new Int16Array(frames * 512);
  for (let i = 0; i < samples.length; i++) samples[i] = wav.readInt16LE(at + 2 * i);
  let state = new ort.Tensor("float32", new Float32Array(256), [2, 1, 128]);
  const sr = new ort.Tensor("int64", BigInt64Array.of(16000n), []);
  const speech = new Float32Array(frames);
  for (let f = 0; f < frames; f++) {
    const input = Float32Array.from(samples.subarray(f * 512, (f + 1) * 512), (s) => s / 32768);
    const result = await session.run({ input: new ort.Tensor("float32", input, [1, 512]), state, sr });
    speech[f] = result.output.data[0];
    state = result.stateN;
  }
  console.log("speech in", speech.filter((p) => p > 0.5).length, "of", frames, "frames");
  writeNpz("silero_vad_v5.npz", {
    samples: npy("<i2", [frames, 512], samples),
    speech: npy("<f4", [frames], speech),
    state: npy("<f4", [2, 1, 128], state.data),
  });
}

await recordFaces("front", 128);
await recordFaces("back", 256);
await recordSpeech();
