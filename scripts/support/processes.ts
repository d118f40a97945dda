import { spawn } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from './paths.ts'

export interface Ending {
  code: number
  /** The end of its output. Both streams are in order. */
  output: string
}

/** The exit code when other migrations created the database. */
export const otherSchemaCode = 3

export interface Running {
  ended: Promise<Ending>
  /** Ends the process and its children. */
  stop: () => Promise<void>
}

interface Options {
  cwd?: string
  env?: Record<string, string | undefined>
  signal?: AbortSignal | undefined
  onOutput?: (text: string) => void
}

const endWithParent = join(import.meta.dirname, 'end-with-parent.ts')
const graceMs = 5000
const keptCharacters = 200_000

/**
 * Starts Node with the arguments as the leader of a process group of its own, with nothing to read. When this process
 * ends, however it ends, the group is killed.
 */
export function startNode(args: readonly string[], options: Options = {}): Running {
  const child = spawn(process.execPath, ['--import', endWithParent, ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env, PARENT_PIPE: '3' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  // The pipe only has to stay open. It breaks when the child ends first.
  ;(child.stdio[3] as Socket | null)?.on('error', () => undefined).unref()
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-keptCharacters)
      options.onOutput?.(text)
    })
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    // `close` would wait for grandchildren, which may keep the streams open.
    child.once('exit', (code) => setImmediate(() => resolve({ code: code ?? 1, output })))
  })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= stopGroup(child.pid))
  const abort = () => void stop()
  if (options.signal?.aborted) abort()
  options.signal?.addEventListener('abort', abort, { once: true })
  return { ended, stop }
}

/** Signals the group and returns whether a process of it is left. Signal 0 only checks. */
function signalGroup(id: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-id, signal)
  } catch {
    return false
  }
}

async function stopGroup(id: number | undefined): Promise<void> {
  if (id === undefined || !signalGroup(id, 'SIGTERM')) return
  for (const deadline = Date.now() + graceMs; Date.now() < deadline; await wait(50)) if (!signalGroup(id, 0)) return
  signalGroup(id, 'SIGKILL')
}

/** Finds a free port for 0. Refuses a port that another process listens on. */
export const reservePort = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is in use already. Choose another one: PORT=${port + 1} npm start`)
          : error,
      ),
    )
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
