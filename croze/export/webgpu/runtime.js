// ---- what runs the plan -------------------------------------------------------------------------
//
// A run writes its inputs, dispatches the kernels, and copies the results to memory that the page
// can see.  All of it goes through the one queue of the device, so runs that are begun before
// others have ended need not wait, and each finds the state as the one before has left it.

const arrayClasses = {
  bool: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  float16: Uint16Array, bfloat16: Uint16Array, float32: Float32Array,
};
const classOf = (array) => arrayClasses[array.dtype] ?? Uint8Array;  // of fp8, the bits

const numbersAlignment = 256;  // of what is bound, on every device
const bytesAtOnce = 1 << 20;  // of weights; whole multiples of the alignment

const roundUp = (bytes, to) => Math.ceil(bytes / to) * to;
const floorDiv = (a, b) => (b === 0 ? 0 : Math.floor(a / b));
const mod = (a, b) => (b === 0 ? a : a - floorDiv(a, b) * b);
const valueOf = (number, sizes) => (typeof number === "function" ? number(...sizes) : number);
const shapeOf = (array, sizes) => array.shape.map((size) => valueOf(size, sizes));
const elementsOf = (array, sizes) => shapeOf(array, sizes).reduce((a, b) => a * b, 1);

const failure = (text) => new Error(`${plan.name}: ${text}`);

// ---- the device ---------------------------------------------------------------------------------

function checkLimits(limits) {
  for (const [name, needed] of Object.entries(plan.limits)) {
    if (limits[name] >= needed) continue;
    throw failure(`the model needs a ${name} of ${needed}, this device has ${limits[name]}`);
  }
}

async function requestDevice() {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) {
    throw failure("there is no WebGPU here: the browser lacks it, or the page is not from https or localhost");
  }
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw failure("WebGPU offers no adapter on this machine");
  checkLimits(adapter.limits);
  return adapter.requestDevice({ label: plan.name, requiredLimits: plan.limits });
}

// What `work` returns; a failure, if the device has something to say against it.
async function watched(device, work) {
  const filters = ["validation", "out-of-memory", "internal"];
  for (const filter of filters) device.pushErrorScope(filter);
  let result, thrown;
  try {
    result = work();
  } catch (error) {
    thrown = error;
  }
  const errors = await Promise.all(filters.map(() => device.popErrorScope()));
  if (thrown) throw thrown;
  const error = errors.find((e) => e);
  if (error) throw failure(error.message || "the device has too little memory");
  return result;
}

function makePipelines(device) {
  return Promise.all(plan.modules.map(async ({ name, entry, code }) => {
    const module = device.createShaderModule({ label: name, code });
    try {
      const compute = { module, entryPoint: entry };
      return await device.createComputePipelineAsync({ label: name, layout: "auto", compute });
    } catch (error) {
      throw failure(`kernel ${name} is refused: ${error.message}`);
    }
  }));
}

// ---- weights ------------------------------------------------------------------------------------

const isMine = (bytes) => new DataView(bytes.buffer).getBigUint64(0, true) === plan.weights.tag;

// The browser keeps files of weights under their address and their tag: those of another export are
// others.
async function openCache(url) {
  const cache = await globalThis.caches?.open("croze-weights").catch(() => undefined);
  if (!cache) return undefined;  // no secure page, or storage is forbidden
  const place = (tag) => {
    const key = new URL(url);
    key.searchParams.set("croze-weights", tag);
    return key.href;
  };
  const key = place(plan.weights.tag.toString(16));
  return {
    find: () => cache.match(key),
    remove: () => cache.delete(key),
    // In place of what was there before.  What does not fit is not kept.
    async keep(response) {
      try {
        for (const old of await cache.keys()) {
          if (old.url !== key && old.url.startsWith(place(""))) await cache.delete(old);
        }
        await cache.put(key, response);
      } catch (error) {
        console.info(`${plan.name}: the weights are not kept: ${error.message}`);
      }
    },
  };
}

// Reads the file to its end into memories that lie one after the other.
async function readWeights(stream, device, memories, onProgress) {
  const block = new Uint8Array(bytesAtOnce);
  let inBlock = 0, written = 0, memory = 0, offset = 0;
  const flush = () => {
    for (let at = 0; at < inBlock;) {
      const bytes = Math.min(roundUp(inBlock, 4) - at, memories[memory].size - offset);
      device.queue.writeBuffer(memories[memory], offset, block, at, bytes);
      [at, offset] = [at + bytes, offset + bytes];
      if (offset === memories[memory].size) [memory, offset] = [memory + 1, 0];
    }
    inBlock = 0;
  };
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let at = 0; at < value.length;) {
      const bytes = Math.min(value.length - at, bytesAtOnce - inBlock);
      block.set(value.subarray(at, at + bytes), inBlock);
      const knowsTag = written >= 8;
      [at, inBlock, written] = [at + bytes, inBlock + bytes, written + bytes];
      if (!knowsTag && written >= 8 && !isMine(block)) {
        throw failure("the weights are those of another export");
      }
      if (written > plan.weights.bytes) throw failure("the weights are longer than they should be");
      if (inBlock === bytesAtOnce) flush();
    }
    onProgress?.(written, plan.weights.bytes);
  }
  if (written !== plan.weights.bytes) {
    throw failure(`the weights end after ${written} of ${plan.weights.bytes} bytes`);
  }
  flush();
}

async function loadWeights(device, memories, { weights, onProgress, cache = true }) {
  const read = (response) => readWeights(response.body, device, memories, onProgress);
  if (weights instanceof ArrayBuffer) return read(new Response(weights));
  const url = new URL(weights ?? plan.weights.file, import.meta.url).href;
  const kept = cache ? await openCache(url) : undefined;
  const known = await kept?.find();
  if (known) {
    try {
      return await read(known);
    } catch {
      await kept.remove();  // it is damaged: from the server, then
    }
  }
  const response = await fetch(url);
  if (!response.ok) throw failure(`${url}: ${response.status} ${response.statusText}`);
  const copy = kept && response.clone();
  await Promise.all([read(response), copy && kept.keep(copy)]);
}

// ---- random numbers -----------------------------------------------------------------------------

// The key of a draw: both halves of the product of two words, folded together.
function randomKey(seed, draw) {
  const product = (seed ^ 0x243f6a8885a308d3n) * (draw ^ 0x9e3779b97f4a7c15n);
  return BigInt.asUintN(64, product) ^ (product >> 64n);
}

// ---- an instance --------------------------------------------------------------------------------

class Model {
  #memories;
  #pipelines;
  #bindings;  // of dispatches
  #numbers;  // of all dispatches, as the device has them
  #numbersAt = [];  // where those of each begin
  #groups;  // of dispatches: along the two axes of the launch
  #sizes;  // that the two belong to
  #draws;
  #readers = [];  // memory that the page can see, and nobody uses
  #lost;
  #ownsDevice;

  constructor(device, ownsDevice, pipelines, memories) {
    this.device = device;
    this.#ownsDevice = ownsDevice;
    this.#pipelines = pipelines;
    this.#memories = memories;
    device.lost.then(({ message }) => {
      this.#lost = failure(`the device is lost: ${message || "nobody says why"}`);
    });
    this.#bind();
    this.reset();
  }

  static async make(device, options) {
    checkLimits(device.limits);
    const pipelines = await makePipelines(device);
    const memories = [];
    try {
      await watched(device, () => plan.memories.forEach((size, number) => memories.push(device.createBuffer({
        label: `${plan.name} ${number}`, size,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
      }))));
      await loadWeights(device, memories.slice(0, plan.memoriesOfFile), options);
      return await watched(device, () => new Model(device, !options.device, pipelines, memories));
    } catch (error) {
      for (const memory of memories) memory.destroy();
      throw error;
    }
  }

  async run(inputs = {}, sizes = {}) {
    const values = this.#checked(sizes);
    const arrays = plan.inputs.map((input) => this.#given(input, inputs[input.name], values));
    return this.#read(plan.outputs, values, () => this.#enqueue(arrays, values));
  }

  readState() {
    return this.#read(plan.state, [], () => this.device.createCommandEncoder());
  }

  writeState(state) {
    for (const [name, value] of Object.entries(state)) {
      const array = plan.state.find((a) => a.name === name);
      if (!array) throw failure(`the state has no "${name}"`);
      this.#write(array, this.#given(array, value, []));
    }
  }

  reset() {
    this.#draws = plan.randomKeys.draws;
    const encoder = this.device.createCommandEncoder();
    for (const { at, start, bytes } of plan.state) {
      if (start) this.#copy(encoder, at, start, bytes);
      else encoder.clearBuffer(this.#memories[at[0]], at[1], roundUp(bytes, 4));
    }
    this.device.queue.submit([encoder.finish()]);
  }

  destroy() {
    for (const buffer of [...this.#memories, this.#numbers, ...this.#readers]) buffer.destroy();
    if (this.#ownsDevice) this.device.destroy();
  }

  // ---- before a run ----

  // The memory of all dispatches, which is always the same.
  #bind() {
    let bytes = 0;
    for (const { numbers } of plan.dispatches) {
      this.#numbersAt.push(bytes);
      bytes += roundUp(4 * numbers.length, numbersAlignment);
    }
    this.#numbers = this.device.createBuffer({
      size: Math.max(bytes, 4), usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
    this.#bindings = plan.dispatches.map(({ module, pieces, numbers }, i) => {
      const resources = [
        { buffer: this.#numbers, offset: this.#numbersAt[i], size: 4 * numbers.length },
        ...pieces.map(([memory, offset, size]) => ({ buffer: this.#memories[memory], offset, size })),
      ];
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      return this.device.createBindGroup({ layout: this.#pipelines[module].getBindGroupLayout(0), entries });
    });
  }

  #checked(sizes) {
    return plan.sizes.map(({ name, least, most, multiple }) => {
      const size = sizes[name];
      if (Number.isInteger(size) && size >= least && size <= most && size % multiple === 0) return size;
      const rule = `from ${least} to ${most}${multiple > 1 ? `, a multiple of ${multiple},` : ""}`;
      throw new RangeError(`${plan.name}: the size ${name} is ${size}, where one ${rule} was expected`);
    });
  }

  // The bytes of an array, in whole words.
  #given(array, value, sizes) {
    const Class = classOf(array), elements = elementsOf(array, sizes);
    if (!(value instanceof Class)) throw new TypeError(`${plan.name}: "${array.name}" is no ${Class.name}`);
    if (value.length !== elements) {
      const expected = `${elements} were expected: shape (${shapeOf(array, sizes).join(", ")})`;
      throw new RangeError(`${plan.name}: "${array.name}" has ${value.length} elements, where ${expected}`);
    }
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (bytes.length % 4 === 0) return bytes;
    const words = new Uint8Array(roundUp(bytes.length, 4));
    words.set(bytes);
    return words;
  }

  #write(array, bytes) {
    this.device.queue.writeBuffer(this.#memories[array.at[0]], array.at[1], bytes);
  }

  // Each kernel finds its place from the number of its group: they are laid in rows.
  #writeNumbers(sizes) {
    if (this.#sizes?.every((size, i) => size === sizes[i])) return;
    const limit = this.device.limits.maxComputeWorkgroupsPerDimension;
    const words = new Int32Array(this.#numbers.size / 4);
    this.#groups = plan.dispatches.map(({ numbers, module }, i) => {
      const values = numbers.map((number) => valueOf(number, sizes));
      words.set(values, this.#numbersAt[i] / 4);
      const groups = values[0] * values[1] * values[2];
      const columns = Math.min(groups, limit), rows = groups === 0 ? 0 : Math.ceil(groups / columns);
      if (rows > limit) {
        const { name } = plan.modules[module];
        throw failure(`kernel ${name} has ${groups} groups, this device launches ${limit * limit} at most`);
      }
      return [columns, rows];
    });
    this.device.queue.writeBuffer(this.#numbers, 0, words);
    this.#sizes = sizes;
  }

  // ---- a run ----

  #enqueue(arrays, sizes) {
    this.#writeNumbers(sizes);
    plan.inputs.forEach((input, i) => this.#write(input, arrays[i]));
    for (const number of plan.randomKeys.state) {
      const key = randomKey(plan.randomKeys.seed, ++this.#draws);
      this.#write(plan.state[number], new BigUint64Array([key]));
    }
    const encoder = this.device.createCommandEncoder();
    for (const { to, from, bytes } of plan.copiesIn) this.#copy(encoder, to, from, bytes);
    const pass = encoder.beginComputePass();
    plan.dispatches.forEach(({ module }, i) => {
      if (this.#groups[i][0] === 0) return;
      pass.setPipeline(this.#pipelines[module]);
      pass.setBindGroup(0, this.#bindings[i]);
      pass.dispatchWorkgroups(...this.#groups[i]);
    });
    pass.end();
    for (const { to, from, bytes } of plan.copiesOut) this.#copy(encoder, to, from, bytes);
    return encoder;
  }

  // The arrays as they are after what `enqueue` has encoded, which is enqueued before this returns.
  async #read(arrays, sizes, enqueue) {
    if (this.#lost) throw this.#lost;
    try {
      const reader = await watched(this.device, () => {
        const encoder = enqueue();
        const found = this.#copyOut(encoder, arrays);
        this.device.queue.submit([encoder.finish()]);
        return found;
      });
      return await this.#take(reader, arrays, sizes);
    } catch (error) {
      throw this.#lost ?? error;
    }
  }

  #copy(encoder, [to, toOffset], [from, fromOffset], bytes) {
    encoder.copyBufferToBuffer(this.#memories[from], fromOffset, this.#memories[to], toOffset, roundUp(bytes, 4));
  }

  // All arrays, one after the other, into memory that the page can see.
  #copyOut(encoder, arrays) {
    const size = arrays.reduce((sum, array) => sum + roundUp(array.bytes, 8), 0);
    if (size === 0) return undefined;
    const known = this.#readers.findIndex((buffer) => buffer.size === size);
    const reader = known < 0
      ? this.device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST })
      : this.#readers.splice(known, 1)[0];
    let offset = 0;
    for (const { at, bytes } of arrays) {
      encoder.copyBufferToBuffer(this.#memories[at[0]], at[1], reader, offset, roundUp(bytes, 4));
      offset += roundUp(bytes, 8);
    }
    return reader;
  }

  async #take(reader, arrays, sizes) {
    const values = {};
    if (!reader) return values;
    await reader.mapAsync(GPUMapMode.READ);
    const all = reader.getMappedRange();
    let offset = 0;
    for (const array of arrays) {
      const Class = classOf(array);
      values[array.name] = new Class(all, offset, elementsOf(array, sizes)).slice();
      offset += roundUp(array.bytes, 8);
    }
    reader.unmap();
    this.#readers.push(reader);
    return values;
  }
}

// ---- what the module gives ----------------------------------------------------------------------

export async function load(options = {}) {
  return Model.make(options.device ?? await requestDevice(), options);
}

const described = (arrays) => arrays.map((array) => ({
  name: array.name,
  label: array.label,
  dtype: array.dtype,
  shape: (...sizes) => shapeOf(array, sizes),
  zeros: (...sizes) => new (classOf(array))(elementsOf(array, sizes)),
}));

export const description = {
  name: plan.name,
  sizes: plan.sizes,
  inputs: described(plan.inputs),
  outputs: described(plan.outputs),
  state: described(plan.state),
  weightBytes: plan.weights.bytes,
  kernels: plan.modules.length,
  dispatches: plan.dispatches.length,
};
