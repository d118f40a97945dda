import { Agent, request as send } from 'node:http'

export interface Load {
  per_second: number
  p50_ms: number
  p99_ms: number
  failed: number
  latencies: number[]
}

export interface Shot {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

function shoot(url: URL, token: string, shot: Shot): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(shot.body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(shot.body) }),
    }
    const outgoing = send(new URL(shot.path, url).href, { agent, method: shot.method, headers }, (incoming) => {
      incoming.resume()
      incoming.on('end', () => resolve(incoming.statusCode ?? 0))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(shot.body)
  })
}

export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

export const summarise = (latencies: readonly number[], seconds: number, failed: number): Load => {
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    per_second: latencies.length / seconds,
    p50_ms: quantile(sorted, 0.5),
    p99_ms: quantile(sorted, 0.99),
    failed,
    latencies: [...latencies],
  }
}

/** Sends shots with `concurrency` at a time for `seconds`, or until `next` has no more. */
export async function load(
  url: URL,
  token: string,
  next: () => Shot | undefined,
  options: { seconds: number; concurrency: number },
): Promise<Load> {
  const latencies: number[] = []
  let failed = 0
  const started = performance.now()
  const ends = started + options.seconds * 1000
  const runner = async () => {
    for (let now = started; now < ends; now = performance.now()) {
      const shot = next()
      if (!shot) return
      const status = await shoot(url, token, shot)
      latencies.push(performance.now() - now)
      if (status >= 400) failed++
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, runner))
  return summarise(latencies, (performance.now() - started) / 1000, failed)
}
