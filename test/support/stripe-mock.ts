import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = join(tmpdir(), 'event-commerce-stripe-mock')
const program = join(folder, 'stripe-mock')

/** Stripe's own mock of its API, built once on this machine, or null with the reason why it cannot be built. */
async function installed(): Promise<{ program: string } | { reason: string }> {
  if (existsSync(program)) return { program }
  try {
    await mkdir(folder, { recursive: true })
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOBIN: folder }
    await run('go', ['install', 'github.com/stripe/stripe-mock@latest'], { env, timeout: 200_000 })
    return { program }
  } catch (error) {
    return { reason: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

async function answers(url: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(`${url}/v1/refunds`).catch(() => null)
    if (answer) return true
    await wait(100)
  }
  return false
}

export type StripeMock = { url: string; stop: () => void } | { reason: string }

/** Starts the mock on a local port. It checks parameters and headers, and stores nothing. */
export async function startStripeMock(): Promise<StripeMock> {
  const mockProgram = await installed()
  if ('reason' in mockProgram) return mockProgram
  const port = await freePort()
  const child = spawn(mockProgram.program, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  if (await answers(url)) return { url, stop: () => void child.kill() }
  child.kill()
  return { reason: 'stripe-mock does not answer.' }
}
