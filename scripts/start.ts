import { createClient } from './support/client.ts'
import { readDemo, writeDemo, writeShell } from './support/demo-file.ts'
import { removeLocalLogin, writeLocalLogin } from './support/local-login.ts'
import { runUntilQuit } from './support/quit.ts'
import { demoVariables, type DemoState, seed } from './support/seed.ts'
import { developmentRootToken, type Server, startServer } from './support/server.ts'
import { checkStartSettings } from './support/settings.ts'

const { PORT = '8787', STATE_DIR = '.wrangler/state', SEED = '1' } = process.env
const quit = new AbortController()

async function seedDemo(server: Server, demo: DemoState): Promise<void> {
  console.log('Making demonstration data through the API …')
  await seed(createClient(server.url, server.rootToken), demo, () => writeDemo(STATE_DIR, demo))
}

async function main(): Promise<void> {
  checkStartSettings({ ...process.env, PORT, SEED })
  const options = {
    port: Number(PORT),
    stateDir: STATE_DIR,
    signal: quit.signal,
    program: 'scripts/support/seed-worker.ts',
    buildsConsole: true,
  }
  const demo = await readDemo(STATE_DIR)
  const needsSeeding = SEED !== '0' && !demo.is_complete
  if (needsSeeding && process.env['RATE_LIMIT_PER_MINUTE']) {
    // Seeding runs before the limit is set, because with a low limit it would wait for minutes.
    const unlimited = await startServer({ ...options, env: { ...process.env, RATE_LIMIT_PER_MINUTE: '0' } })
    await seedDemo(unlimited, demo).finally(unlimited.stop)
  }
  let isIntroduced = false
  const onOutput = (text: string) => isIntroduced && process.stdout.write(text)
  const server = await startServer({ ...options, env: process.env, onOutput })
  try {
    if (needsSeeding && !demo.is_complete) await seedDemo(server, demo)
    await introduce(server, demo)
    isIntroduced = true
  } catch (error) {
    await server.stop()
    await removeLocalLogin(server.url)
    throw error
  }
  const { code, output } = await server.ended
  await server.stop()
  await removeLocalLogin(server.url)
  if (!quit.signal.aborted) throw new Error(`The server ended by itself (exit code ${code}).\n${output}`)
}

async function introduce(server: Server, demo: DemoState): Promise<void> {
  const root = server.rootToken === developmentRootToken ? developmentRootToken : '$ROOT_TOKEN'
  console.log(`\nThe API:        ${server.url}/v1`)
  console.log(`Its reference:  ${server.url}/docs`)
  console.log(`Dev mailbox:    ${server.url}/dev/outbox`)
  console.log(`Its clock:      ${server.url}/dev/clock`)
  console.log('\nThe console, signed in as each role. The token is what follows `token=`:')
  const people = [{ role: 'Superuser', name: '', token: root }, ...demo.tokens]
  for (const { role, name, token } of people)
    console.log(`${`${role}:`.padEnd(16)}${server.url}/console#token=${token}  ${name}`.trimEnd())
  // A token from the environment is not printed and not written to files.
  const token = root === developmentRootToken ? [['TOKEN', root] as const] : []
  const variables = new Map([['API', server.url] as const, ...token, ...demoVariables(demo)])
  const file = await writeShell(STATE_DIR, [...variables])
  console.log(`\nThe commands of README.md and docs need these, which . ${file} sets:`)
  for (const [name, value] of variables) console.log(`export ${name}=${value}`)
  console.log(`\ncurl -H "Authorization: Bearer $TOKEN" $API/v1/auth/user-info`)
  await introduceCommandLine(server.url, variables.get('TOKEN'))
  console.log(`\nReady ${server.url}`)
}

/** Signs the command line in as the admin of the demonstration data, or as superuser when there are none. */
async function introduceCommandLine(url: string, token: string | undefined): Promise<void> {
  // A login of an earlier server at this address has a token that is not valid here.
  if (token === undefined) return removeLocalLogin(url)
  await writeLocalLogin({ url, token })
  console.log(`\nThe command line needs no setting in this folder:\nnpx ecm whoami`)
}

await runUntilQuit(quit, main)
