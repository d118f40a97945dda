import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { flood, floor, gather, type Rate, settled, stroll } from './bench/webhooks.ts'
import { createClient } from './support/client.ts'
import { startReceiver } from './support/receiver.ts'
import { startServer } from './support/server.ts'

/**
 * What the delivery of webhooks costs above the posts themselves: deliveries from announced to recorded beside a bare
 * loop of `fetch` in the same Worker to the same receiver, in turns within one run.
 */
const rounds = Number(process.env['ROUNDS'] ?? 3)
const eventsARound = Number(process.env['EVENTS'] ?? 120)
const strollEvents = Number(process.env['STROLL'] ?? 200)
const everyMs = 50
/** What one consumer has under way; on this machine there is one consumer for each queue. */
const concurrency = 5

const quit = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => quit.abort())

const stateDir = await mkdtemp(join(tmpdir(), 'bench-webhooks-'))
const server = await startServer({
  port: 0,
  stateDir,
  env: { RATE_LIMIT_PER_MINUTE: '0', ALLOW_INSECURE_WEBHOOKS: '1', WEBHOOK_RETRY_SCHEDULE: '1,1,1' },
  program: 'scripts/bench/worker.ts',
  signal: quit.signal,
})
const receiver = await startReceiver()
const client = createClient(server.url, server.rootToken)

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const perSecond = (rates: Rate[]): number => median(rates.map((rate) => rate.per_second))
const say = (name: string, what: string) => console.log(`${name.padEnd(34)} ${what}`)

async function compare(name: string, crowd: Awaited<ReturnType<typeof gather>>): Promise<number> {
  const count = eventsARound * crowd.paths.length
  const rates: Rate[] = []
  const floors: Rate[] = []
  for (let round = 0; round < rounds; round++) {
    floors.push(await floor(client, receiver, crowd, { count, concurrency }))
    rates.push(await flood(client, crowd, eventsARound))
  }
  const [service, bare] = [perSecond(rates), perSecond(floors)]
  say(
    name,
    `${service.toFixed(0)} deliveries/s of ${bare.toFixed(0)} posts/s by bare fetch: ${((100 * service) / bare).toFixed(0)} %`,
  )
  return service / bare
}

try {
  console.log(
    `${rounds} rounds of ${eventsARound} events at once, in turns with the floor (${concurrency} posts at a time); ` +
      `then ${strollEvents} events, one each ${everyMs} ms\n`,
  )
  const healthy = { organizations: 5, healthy: 10, hanging: 0, timeout_seconds: 2 }
  const first = await gather(client, receiver, 'a', healthy)
  await flood(client, first, 2)
  await floor(client, receiver, first, { count: 500, concurrency })
  await compare('(a) 50 healthy endpoints', first)
  const calm = await stroll(client, receiver, first, { everyMs, events: strollEvents })
  say('    from commit to first byte', `p50 ${calm.p50_ms.toFixed(1)} ms, p99 ${calm.p99_ms.toFixed(1)} ms`)

  const second = await gather(client, receiver, 'b', { organizations: 10, healthy: 8, hanging: 2, timeout_seconds: 1 })
  await flood(client, second, 1)
  // Their first requests run into the timeout; from then on they are known to hang.
  await wait(2500)
  await settled(client, second)
  const besides = await stroll(client, receiver, second, { everyMs, events: strollEvents })
  say(
    '(b) 80 healthy, 20 known to hang',
    `p50 ${besides.p50_ms.toFixed(1)} ms, p99 ${besides.p99_ms.toFixed(1)} ms of the healthy ones: ` +
      `${(besides.p50_ms / calm.p50_ms).toFixed(2)} × the median of (a)`,
  )
  await compare('    and all at once', second)

  const third = await gather(client, receiver, 'c', healthy)
  for (const path of third.paths) {
    let firsts = 0
    receiver.tell(path, (_, nth) => (nth === 1 && ++firsts % 5 === 0 ? 500 : 200))
  }
  await compare('(c) 20 % of first attempts fail', third)
} finally {
  await server.stop()
  await receiver.stop()
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 })
}
