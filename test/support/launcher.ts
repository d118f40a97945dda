import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { root } from '../../scripts/support/paths.ts'
import { reservePort } from '../../scripts/support/processes.ts'

export interface Launcher {
  pid: number
  port: number
  output: () => string
  /** Resolves once the server is ready, and rejects when it stops before. */
  ready: Promise<void>
  ended: Promise<{ code: number | null; ms: number }>
  kill: (signal: 'SIGTERM' | 'SIGKILL') => void
}

/**
 * Runs `npm start` without npm, on a free port unless the variables name one. The login for the command line goes into
 * `folder`, as it goes into the folder of the project with npm.
 */
export async function launch(
  env: Record<string, string> & { STATE_DIR: string },
  folder = dirname(env.STATE_DIR),
): Promise<Launcher> {
  const port = await reservePort(0)
  const started = performance.now()
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.ts')], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), SEED: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<{ code: number | null; ms: number }>((resolve) => {
    child.once('close', (code) => resolve({ code, ms: performance.now() - started }))
  })
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (/^Ready /m.test(output)) resolve()
      })
    void ended.then(({ code }) => reject(new Error(`It ended with ${code} before it was ready.\n${output}`)))
  })
  // Launchers that stop at once have no port.
  ready.catch(() => undefined)
  return { pid: child.pid ?? 0, port, output: () => output, ready, ended, kill: (signal) => void child.kill(signal) }
}
