import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../support/paths.ts'
import { findRuntime } from '../support/runtime-use.ts'
import { heapsOfIsolates } from '../support/server.ts'

/** How many samples of the runtime fall on each part. */
export type Samples = Map<string, number>

/** The first pattern that a file of the sources matches names the part that its JavaScript belongs to. */
export type PartsOfFiles = readonly (readonly [RegExp, string])[]

/** The same of functions of the runtime, from the innermost outwards. */
const partsOfFunctions: readonly (readonly [RegExp, string])[] = [
  [
    /v8::internal::(Heap::(Collect|Perform|Call)|Scaveng|M(inor|ajor)GC|MarkCompact|Sweeper|Concurrent)/,
    'collecting garbage',
  ],
  [/cppgc::internal::(Sweep|Mark)|HeapTracer/, 'collecting garbage'],
  [/sqlite3_prepare|sqlite3RunParser/, 'SQLite, parsing statements'],
  [/sqlite3|SqliteDatabase/, 'SQLite, running statements'],
  [/v8::internal::(Compiler|parsing|maglev|compiler|baseline|OptimizedCompil)|Maglev|Turbofan/, 'compiling'],
  [/JsonPars|JsonStringif/, 'JSON'],
  [/bssl::|EVP_|HMAC|sha256|SubtleCrypto|CryptoKey/i, 'signing'],
  [/TimeoutManager|AbortSignal|AbortController|TimerChannel/, 'timers and aborting'],
  [/api::(Response|Body)|ReadableStream|ReaderImpl|handleHttp.*Response/, '`fetch`: response and its body'],
  [/api::(Request|Headers|Fetcher)|fetchImpl/, '`fetch`: request and headers'],
  [/JsRpc|capnp::/, 'calls of objects'],
  [/Http(Client|Server|Service|Input|Output|Headers)|hyper/, 'HTTP'],
  [/^(entry_SYSCALL|asm_)|do_syscall/, 'kernel'],
]

const restOfRuntime = "the runtime's promises and entering of isolates"

/** Has V8 write the names of its functions where `perf` looks for them. For servers that start from now on. */
export function nameFunctions(): void {
  process.env['MINIFLARE_WORKERD_V8_FLAGS'] =
    `${heapsOfIsolates} --perf-basic-prof --interpreted-frames-native-stack --no-logfile-per-isolate --logfile=/dev/null`
}

/** Which file of the sources each line of the bundle is of: the bundler names them in comments. */
function filesOfBundle(): string[] {
  const bundles = globSync(join(root, '.wrangler/tmp/*/worker.js'))
  const [newest] = bundles.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  if (!newest) throw new Error('The server has no bundle in .wrangler/tmp.')
  let file = ''
  return readFileSync(newest, 'utf8')
    .split('\n')
    .map((line) => (file = /^\s*\/\/ ((?:\S*\/)?\S+\.(?:ts|m?js))$/.exec(line)?.[1] ?? file))
}

/** Says which part a function is of; undefined for one that may be of any. */
function partOf(partsOfFiles: PartsOfFiles): (name: string) => string | undefined {
  const files = filesOfBundle()
  const known = new Map<string, string | undefined>()
  const find = (name: string): string | undefined => {
    const [, script, line] = /^JS:.*?(\S+):(\d+):\d+$/.exec(name) ?? []
    if (script === undefined) return partsOfFunctions.find(([pattern]) => pattern.test(name))?.[1]
    if (script !== 'worker.js') return 'JavaScript of the simulator'
    const file = files[Number(line) - 1] ?? ''
    return partsOfFiles.find(([pattern]) => pattern.test(file))?.[1] ?? 'JavaScript of the rest of the service'
  }
  return (name) => {
    if (!known.has(name)) known.set(name, find(name))
    return known.get(name)
  }
}

async function addSamples(samples: Samples, file: string, partsOfFiles: PartsOfFiles): Promise<void> {
  const part = partOf(partsOfFiles)
  const script = spawn('perf', ['script', '-i', file, '-F', 'ip,sym'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let stack: string[] = []
  for await (const line of createInterface({ input: script.stdout })) {
    if (line !== '') stack.push(line.trim().replace(/^[0-9a-f]+ /, ''))
    else if (stack.length) {
      // The innermost function that is of a part says which part the sample is of.
      const name = stack.map(part).find((found) => found !== undefined) ?? restOfRuntime
      samples.set(name, (samples.get(name) ?? 0) + 1)
      stack = []
    }
  }
}

/** Does the work and adds what the runtime did meanwhile to the samples. Does the work alone where there are none. */
export async function profiled<T>(
  samples: Samples | null,
  partsOfFiles: PartsOfFiles,
  work: () => Promise<T>,
): Promise<T> {
  if (!samples) return work()
  const id = findRuntime()?.id ?? ''
  const folder = await mkdtemp(join(tmpdir(), 'profile-'))
  const file = join(folder, 'perf.data')
  const perf = spawn('perf', ['record', '-F', '999', '-g', '-p', id, '-o', file], { stdio: 'ignore' })
  try {
    await once(perf, 'spawn')
    const ended = once(perf, 'exit')
    const result = await work()
    perf.kill('SIGINT')
    await ended
    await addSamples(samples, file, partsOfFiles)
    return result
  } finally {
    perf.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
}

/** What one item took, by parts. */
export interface Profile {
  name: string
  /** Milliseconds of processor of one. */
  milliseconds: number
  samples: Samples
}

const sumOf = (samples: Samples): number => [...samples.values()].reduce((sum, count) => sum + count, 0)

/** Prints a table like those of docs/campaigns.md and docs/webhooks.md: milliseconds and share of each part. */
export function showProfiles(profiles: readonly Profile[]): void {
  const last = profiles.at(-1)
  const row = (cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`)
  const cell = ({ samples, milliseconds }: Profile, part: string) => {
    const share = (samples.get(part) ?? 0) / sumOf(samples)
    return `${(milliseconds * share).toFixed(3)} (${(100 * share).toFixed(0)} %)`
  }
  const parts = new Set(profiles.flatMap(({ samples }) => [...samples.keys()]))
  row(['Part', ...profiles.map(({ name }) => name)])
  row(['---', ...profiles.map(() => '---')])
  for (const part of [...parts].toSorted((a, b) => (last?.samples.get(b) ?? 0) - (last?.samples.get(a) ?? 0)))
    row([part, ...profiles.map((profile) => cell(profile, part))])
  row(['**together**', ...profiles.map(({ milliseconds }) => `**${milliseconds.toFixed(3)}**`)])
}
