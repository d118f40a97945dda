import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../support/client.ts'
import { findMemoryFolder } from '../support/memory-folder.ts'
import { findRuntime } from '../support/runtime-use.ts'
import { startServer } from '../support/server.ts'

const bytesNeeded = 2 * 1024 ** 3

/** Returns the number of orders, rows, recipients or people of a case. SIZE replaces it. */
export const readSize = (size: number): number => Number(process.env['SIZE'] ?? size)

/** The service and its floor are each measured this many times. */
export const rounds = Number(process.env['ROUNDS'] ?? 5)

export interface Bench {
  url: string
  token: string
  client: Client
  signal: AbortSignal
  /** Restarts the server, so that its memory does not contain what seeding took. */
  restart: () => Promise<void>
}

/** Runs a case against a service with the routes of scripts/bench/worker.ts and an empty database. */
export async function withBench(env: Record<string, string>, work: (bench: Bench) => Promise<void>): Promise<void> {
  const quit = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())
  const stateDir = await mkdtemp(join(findMemoryFolder(bytesNeeded) ?? tmpdir(), 'bench-'))
  const start = () =>
    startServer({
      port: 0,
      stateDir,
      env: { RATE_LIMIT_PER_MINUTE: '0', ...env },
      program: 'scripts/bench/worker.ts',
      hasCron: false,
      signal: quit.signal,
    })
  let server = await start()
  const bench: Bench = {
    url: server.url,
    token: server.rootToken,
    client: createClient(server.url, server.rootToken),
    signal: quit.signal,
    restart: async () => {
      await server.stop()
      server = await start()
      bench.url = server.url
      bench.client = createClient(server.url, server.rootToken)
    },
  }
  try {
    await work(bench)
  } finally {
    await server.stop()
    await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

export interface Statement {
  sql: string
  params: unknown[]
}

/** Runs statements in one transaction and answers its milliseconds. */
export const runSql = async (client: Client, statements: readonly Statement[]): Promise<number> =>
  (await client.post<{ ms: number }>('/bench/sql', statements)).ms

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Sends a request and answers its milliseconds and its body. Throws when it is refused. */
export async function timeRequest(url: string, init: RequestInit): Promise<{ ms: number; body: Buffer }> {
  const startedAt = performance.now()
  const response = await fetch(url, init)
  const body = Buffer.from(await response.arrayBuffer())
  const ms = performance.now() - startedAt
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${url} answered ${response.status}: ${body.toString()}`)
  return { ms, body }
}

/** Runs the tasks, `atOnce` at a time, and answers how many ended in a second. */
export async function measureRate(tasks: readonly (() => Promise<unknown>)[], atOnce: number): Promise<number> {
  let next = 0
  const startedAt = performance.now()
  const runner = async () => {
    for (let at = next++; at < tasks.length; at = next++) await tasks[at]?.()
  }
  await Promise.all(Array.from({ length: atOnce }, runner))
  return (1000 * tasks.length) / (performance.now() - startedAt)
}

export interface Comparison {
  service: number
  floor: number
}

/** Measures both in turns, so that other work on the machine slows both, and answers the medians. */
export async function compare(
  measureService: () => Promise<number>,
  measureFloor: () => Promise<number>,
): Promise<Comparison> {
  const service: number[] = []
  const floor: number[] = []
  await measureService()
  await measureFloor()
  for (let round = 0; round < rounds; round++) {
    floor.push(await measureFloor())
    service.push(await measureService())
  }
  return { service: median(service), floor: median(floor) }
}

const format = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))

/** Prints a line: what the service took, what its floor took, and how many times as long or as slow the service is. */
export function printRatio(name: string, unit: string, { service, floor }: Comparison): void {
  const isRate = unit.endsWith('/s')
  const ratio = isRate ? floor / service : service / floor
  const columns = [name.padEnd(44), format(service).padStart(8), format(floor).padStart(8), unit.padEnd(14)]
  console.log(`${columns.join(' ')} ${ratio.toFixed(2).padStart(6)} times the floor`)
}

export const printHead = (text: string): void =>
  console.log(`${text}\n\n${''.padEnd(44)} ${'service'.padStart(8)} ${'floor'.padStart(8)}`)

/** Reads the megabytes of all isolates of the runtime. Returns 0 when the machine does not provide it. */
export const readMemory = (): number => findRuntime()?.megabytes ?? 0
