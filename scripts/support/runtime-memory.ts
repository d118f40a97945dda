import { existsSync, readFileSync } from 'node:fs'
import { findRuntime } from './runtime-use.ts'

/** Megabytes of the runtime's memory by what holds them. */
export interface RuntimeMemory {
  all: number
  /** Heaps of V8, of all isolates: ours and those of the simulator. */
  heaps: number
  /** What the runtime's allocator holds, in use or kept for later: buffers, bodies, pages of SQLite. */
  allocator: number
  /** Pages of the program and of libraries that were read so far. */
  program: number
  /** Compiled code, stacks and WebAssembly. */
  rest: number
}

interface Mapping {
  from: number
  to: number
  isFile: boolean
  kilobytes: number
}

const gigabyte = 2 ** 30
/** V8 reserves this much at once for the heaps of all isolates, and the allocator one gigabyte after the other. */
const heapsReserved = 4 * gigabyte

const head = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+\s*(.*)$/

function mappingsOf(smaps: string): Mapping[] {
  const mappings: Mapping[] = []
  for (const line of smaps.split('\n')) {
    const found = head.exec(line)
    const last = mappings.at(-1)
    if (found) {
      const [, from = '', to = '', name = ''] = found
      mappings.push({ from: parseInt(from, 16), to: parseInt(to, 16), isFile: name.startsWith('/'), kilobytes: 0 })
    } else if (last && line.startsWith('Rss:')) last.kilobytes = parseInt(line.slice('Rss:'.length), 10)
  }
  return mappings
}

/**
 * A reservation is divided where parts of it are in use, so mappings that follow on each other are one. That of the
 * heaps begins and ends at a multiple of its size.
 */
function joined(mappings: readonly Mapping[]): Mapping[] {
  const whole: Mapping[] = []
  for (const mapping of mappings) {
    const last = whole.at(-1)
    if (last && !last.isFile && !mapping.isFile && last.to === mapping.from && mapping.from % heapsReserved) {
      last.to = mapping.to
      last.kilobytes += mapping.kilobytes
    } else whole.push({ ...mapping })
  }
  return whole
}

function holderOf({ from, to, isFile }: Mapping): Exclude<keyof RuntimeMemory, 'all'> {
  if (isFile) return 'program'
  if (to - from === heapsReserved) return 'heaps'
  return (to - from) % gigabyte === 0 ? 'allocator' : 'rest'
}

function memoryOf(mappings: readonly Mapping[]): RuntimeMemory {
  const memory = { all: 0, heaps: 0, allocator: 0, program: 0, rest: 0 }
  for (const mapping of joined(mappings)) {
    memory.all += mapping.kilobytes / 1024
    memory[holderOf(mapping)] += mapping.kilobytes / 1024
  }
  return memory
}

/** A list of mappings that change while it is read may name one twice: its sum then differs from what the machine says. */
const toleratedDifference = 0.05

const readings = 5

/** All are 0 when the machine does not say it. After five readings that differ the last one counts. */
export function runtimeMemory(): RuntimeMemory {
  let memory = memoryOf([])
  for (let reading = 0; reading < readings; reading++) {
    const found = findRuntime()
    const file = `/proc/${found?.id}/smaps`
    if (!found || !existsSync(file)) return memoryOf([])
    memory = memoryOf(mappingsOf(readFileSync(file, 'utf8')))
    if (Math.abs(memory.all - found.megabytes) <= toleratedDifference * found.megabytes) break
  }
  return memory
}

export const memoryText = ({ all, ...held }: RuntimeMemory): string =>
  `${all.toFixed(0).padStart(4)} MB (${Object.entries(held)
    .map(([holder, megabytes]) => `${holder} ${megabytes.toFixed(0)}`)
    .join(', ')})`
