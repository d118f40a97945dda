import type { Meter } from '../src/domain/meter.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  costsNow,
  type Delay,
  dismiss,
  flood,
  floor,
  gather,
  hang,
  type Rate,
  settled,
  stroll,
} from './bench/webhooks.ts'
import { nameFunctions, type PartsOfFiles, profiled, type Samples, showProfiles } from './bench/profile.ts'
import { createClient } from './support/client.ts'
import { startReceiver } from './support/receiver.ts'
import { processorSeconds } from './support/runtime-use.ts'
import { startServer } from './support/server.ts'

/**
 * What the delivery of webhooks costs above the posts themselves: deliveries from announced to recorded beside a bare
 * loop of `fetch` in the same Worker to the same receiver, in turns within one run. And what endpoints that hang cost
 * the others. Arguments name the cases to run; without any, all run. With PROFILE=1 it prints what a delivery and a bare
 * post spend time on; `perf` makes both slower. With TRACE=1 it prints the course of each delivery that was late.
 */
const rounds = Number(process.env['ROUNDS'] ?? 3)
const eventsARound = Number(process.env['EVENTS'] ?? 120)
const strollEvents = Number(process.env['STROLL'] ?? 200)
const everyMs = Number(process.env['EVERY'] ?? 50)
/** What one consumer has under way; on this machine there is one consumer for each queue. */
const concurrency = 5

const isTraced = process.env['TRACE'] === '1'
const isProfiled = process.env['PROFILE'] === '1'
if (isProfiled) nameFunctions()

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

const stateDir = await mkdtemp(join(tmpdir(), 'bench-webhooks-'))
const server = await startServer({
  port: 0,
  stateDir,
  env: { RATE_LIMIT_PER_MINUTE: '0', ALLOW_INSECURE_WEBHOOKS: '1', WEBHOOK_RETRY_SCHEDULE: '1,1,1' },
  program: 'scripts/bench/worker.ts',
  signal: quit.signal,
  ...(process.env['VERBOSE'] ? { onOutput: (text: string) => process.stdout.write(text) } : {}),
})
const receiver = await startReceiver()
const client = createClient(server.url, server.rootToken)

type Crowd = Awaited<ReturnType<typeof gather>>

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const perSecond = (rates: Rate[]): number => median(rates.map((rate) => rate.per_second))
const say = (name: string, what: string) => console.log(`${name.padEnd(44)} ${what}`)

/** Milliseconds of processors that the runtime takes for one of so many. */
const processorMs = <T>(count: number, samples: Samples, work: () => Promise<T>): Promise<[T, number]> =>
  profiled(isProfiled ? samples : null, partsOfFiles, async () => {
    const before = processorSeconds()
    const result = await work()
    return [result, ((processorSeconds() - before) * 1000) / count]
  })

/** The first that matches says what a file belongs to. */
const partsOfFiles: PartsOfFiles = [
  [/src\/gateways/, 'JavaScript of the post'],
  [/src\/modules\/webhooks|src\/domain\/webhooks/, 'JavaScript of claims, attempts and results'],
  [/src\/db|drizzle/, 'making statements of D1'],
  [/scripts\/bench/, 'JavaScript of the bench'],
]

const spellCosts = (before: Meter, after: Meter, count: number): string => {
  const of = (unit: keyof Meter) => ((after[unit] - before[unit]) / count).toFixed(2)
  return `${of('round_trips')} round trips, ${of('queries')} queries, ${of('rows_read')} rows read, ${of('rows_written')} written`
}

async function compare(name: string, crowd: Crowd): Promise<void> {
  const count = eventsARound * crowd.paths.length
  const rates: Rate[] = []
  const floors: Rate[] = []
  const times = { service: [] as number[], bare: [] as number[] }
  const samples = { service: new Map<string, number>(), bare: new Map<string, number>() }
  const before = await costsNow(client)
  for (let round = 0; round < rounds; round++) {
    const [bare, bareMs] = await processorMs(count, samples.bare, () =>
      floor(client, receiver, crowd, { count, concurrency }),
    )
    const [rate, ms] = await processorMs(count, samples.service, () => flood(client, crowd, eventsARound))
    floors.push(bare)
    rates.push(rate)
    times.bare.push(bareMs)
    times.service.push(ms)
  }
  const after = await costsNow(client)
  const [service, bare] = [perSecond(rates), perSecond(floors)]
  say(
    name,
    `${service.toFixed(0)} deliveries/s of ${bare.toFixed(0)} posts/s by bare fetch: ${((100 * service) / bare).toFixed(0)} %`,
  )
  say(
    '    one takes of processors',
    `${median(times.service).toFixed(3)} ms; a bare post ${median(times.bare).toFixed(3)} ms`,
  )
  say('    one takes of the database', spellCosts(before, after, rounds * count))
  if (!isProfiled) return
  showProfiles([
    { name: 'A bare post', milliseconds: median(times.bare), samples: samples.bare },
    { name: 'A delivery', milliseconds: median(times.service), samples: samples.service },
  ])
}

/** A delay, and what a delivery took in the meantime. */
interface Stroll extends Delay {
  milliseconds: number
  roundTrips: number
}

async function delayOf(crowd: Crowd): Promise<Stroll> {
  const [before, began] = [await costsNow(client), processorSeconds()]
  const delay = await stroll(client, receiver, crowd, { everyMs, events: strollEvents, isTraced })
  const milliseconds = (1000 * (processorSeconds() - began)) / delay.deliveries
  const roundTrips = ((await costsNow(client)).round_trips - before.round_trips) / delay.deliveries
  return { ...delay, milliseconds, roundTrips }
}

const spell = ({ p50_ms, p99_ms, milliseconds, roundTrips }: Stroll) =>
  `p50 ${p50_ms.toFixed(1)} ms, p99 ${p99_ms.toFixed(1)} ms (a delivery ${milliseconds.toFixed(2)} ms of processors, ${roundTrips.toFixed(2)} round trips)`

const allWell = { organizations: 5, healthy: 10, hanging: 0, timeout_seconds: 2 }
const mixed = { organizations: 10, healthy: 8, hanging: 2 }

async function allHealthy(): Promise<void> {
  const crowd = await gather(client, receiver, 'a', allWell)
  await flood(client, crowd, 2)
  await floor(client, receiver, crowd, { count: 500, concurrency })
  await compare('(a) 50 healthy endpoints', crowd)
  say('    from commit to first byte', spell(await delayOf(crowd)))
}

/** So few endpoints an organisation that requests post by themselves. */
async function fewEndpoints(): Promise<void> {
  for (const healthy of [1, 4]) {
    const crowd = await gather(client, receiver, `h${healthy}`, {
      organizations: 10,
      healthy,
      hanging: 0,
      timeout_seconds: 2,
    })
    await flood(client, crowd, 2)
    say(`(h) ${healthy} of each of 10 organisations`, `from commit to first byte ${spell(await delayOf(crowd))}`)
  }
}

/** The delay of the 80 while all is well, and from the moment in which the 20 beside them hang. */
function sayBesides(name: string, quiet: Stroll, besides: Stroll): void {
  say(name, `quiet ${spell(quiet)}; then ${spell(besides)}: ${(besides.p50_ms / quiet.p50_ms).toFixed(2)} × the median`)
}

async function knownToHang(): Promise<void> {
  const crowd = await gather(client, receiver, 'b', { ...mixed, timeout_seconds: 1 })
  await flood(client, crowd, 1)
  const quiet = await delayOf(crowd)
  hang(receiver, crowd)
  await flood(client, crowd, 1)
  // Their first requests run into the timeout; from then on they are known to hang.
  await wait(2500)
  await settled(client, crowd)
  sayBesides('(b) 80 healthy, 20 known to hang', quiet, await delayOf(crowd))
  await compare('    and all at once', crowd)
  await dismiss(client, crowd)
}

async function someFail(): Promise<void> {
  const crowd = await gather(client, receiver, 'c', allWell)
  for (const path of crowd.paths) {
    let firsts = 0
    receiver.respondWith(path, (_, nth) => (nth === 1 && ++firsts % 5 === 0 ? 500 : 200))
  }
  await compare('(c) 20 % of first attempts fail', crowd)
}

const beginToHang = (name: string, timeout_seconds: number) => async (): Promise<void> => {
  const crowd = await gather(client, receiver, name, { ...mixed, timeout_seconds })
  await flood(client, crowd, 2)
  const quiet = await delayOf(crowd)
  hang(receiver, crowd)
  sayBesides(`(${name}) 20 begin to hang, timeout ${timeout_seconds || 15} s`, quiet, await delayOf(crowd))
  await dismiss(client, crowd)
}

const neverMet = (name: string, timeout_seconds: number) => async (): Promise<void> => {
  const before = await gather(client, receiver, `${name}0`, { ...mixed, timeout_seconds })
  await flood(client, before, 2)
  const quiet = await delayOf(before)
  await dismiss(client, before)
  const crowd = await gather(client, receiver, name, { ...mixed, timeout_seconds })
  hang(receiver, crowd)
  sayBesides(`(${name}) 20 new ones hang, timeout ${timeout_seconds || 15} s`, quiet, await delayOf(crowd))
  await dismiss(client, crowd)
}

const cases: Record<string, () => Promise<void>> = {
  a: allHealthy,
  b: knownToHang,
  c: someFail,
  d: beginToHang('d', 1),
  e: beginToHang('e', 0),
  f: neverMet('f', 1),
  g: neverMet('g', 0),
  h: fewEndpoints,
}

try {
  const chosen = process.argv.slice(2)
  const unknown = chosen.find((name) => !Object.hasOwn(cases, name))
  if (unknown !== undefined)
    throw new Error(`There is no case ${unknown}. The cases are ${Object.keys(cases).join(', ')}.`)
  console.log(
    `${rounds} rounds of ${eventsARound} events at once, in turns with the floor (${concurrency} posts at a time); ` +
      `delays of ${strollEvents} events, one each ${everyMs} ms, from commit to first byte\n`,
  )
  for (const [name, run] of Object.entries(cases)) if (chosen.length === 0 || chosen.includes(name)) await run()
} finally {
  await server.stop()
  await receiver.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}
