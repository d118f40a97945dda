import { needsConsoleBuild } from './support/console-files.ts'
import { adviseOnDisk } from './support/disk-faults.ts'
import { type Front, openFront } from './support/front.ts'
import { runUntilQuit } from './support/quit.ts'
import { type Server, startServer } from './support/server.ts'
import { checkServeSettings, readSecretFiles } from './support/settings.ts'

/** Containers are killed ten seconds after the request to end. */
const graceMs = 7000

const quit = new AbortController()

const log = (level: 'info' | 'warn' | 'error', message: string) => console.log(JSON.stringify({ level, message }))

async function main(): Promise<void> {
  const env = readSecretFiles(process.env)
  checkServeSettings(env)
  const { HOST = '127.0.0.1', PORT = '8787', STATE_DIR = '', TRUSTED_PROXIES = '0' } = env
  const startedAt = performance.now()
  // Once the server is ready, requests under way end before it does.
  const starting = new AbortController()
  const abort = () => starting.abort()
  quit.signal.addEventListener('abort', abort)
  // Only the owner reads what the processes write: it is personal data.
  process.umask(0o077)
  const server = await startOn(STATE_DIR, {
    port: 0,
    env,
    isProduction: true,
    buildsConsole: needsConsoleBuild(),
    signal: starting.signal,
    onOutput: (text) => process.stdout.write(text),
  })
  quit.signal.removeEventListener('abort', abort)
  try {
    const front = await openFront({
      host: HOST,
      port: Number(PORT),
      servicePort: Number(new URL(server.url).port),
      trustedProxies: Number(TRUSTED_PROXIES),
      onWarning: (message) => log('warn', message),
    })
    log('info', `Ready at ${HOST}:${front.port} after ${Math.round(performance.now() - startedAt)} ms.`)
    await endWith(server, front)
  } finally {
    await server.stop()
  }
}

/** Starts the server, and says what to do when its folder cannot be used. */
async function startOn(
  stateDir: string,
  options: Omit<Parameters<typeof startServer>[0], 'stateDir'>,
): Promise<Server> {
  try {
    return await startServer({ ...options, stateDir })
  } catch (cause) {
    const advice = adviseOnDisk(cause)
    throw advice ? new Error(`STATE_DIR is ${stateDir}, where the server cannot start. ${advice}`, { cause }) : cause
  }
}

/** Waits until the operator or the simulator ends the server. */
async function endWith(server: Server, front: Front): Promise<void> {
  const quitRequest = new Promise<void>((resolve) => {
    if (quit.signal.aborted) resolve()
    quit.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const ending = await Promise.race([server.ended, quitRequest])
  await front.close(ending ? 0 : graceMs)
  if (ending)
    throw new Error(`The simulator ended by itself (exit code ${ending.code}). The last lines of the log say why.`)
}

await runUntilQuit(quit, async () => {
  await main()
  log('info', 'Ended.')
})
