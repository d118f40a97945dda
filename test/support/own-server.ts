import { execFileSync, spawn } from 'node:child_process'
import { chownSync, cpSync, globSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { consoleFolder, root } from '../../scripts/support/paths.ts'

/** The user without rights, when the tests run as the administrator. */
const nobody = 65_534
export const otherUser = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

export const ownSecrets = {
  ROOT_TOKEN: 'root-token-of-this-server',
  LINK_SIGNING_KEY: 'link-signing-key-of-this-server',
  IDEMPOTENCY_KEY: 'idempotency-key-of-this-server',
  MERCHANT_KEY_SECRET: 'merchant-key-secret-of-this-server',
}

export interface OwnServer {
  pid: number
  /** Empty until the server is ready. */
  url: string
  lines: () => string[]
  ready: Promise<void>
  ended: Promise<number | null>
  kill: (signal: NodeJS.Signals) => void
}

/** Copies the files of the project, with the built console, into a folder that its user cannot change. */
export function packCopy(folder: string): string {
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const name of names.split('\n').filter(Boolean))
    cpSync(join(root, name), join(folder, name), { recursive: true })
  const dist = consoleFolder.slice(root.length)
  cpSync(consoleFolder, join(folder, dist), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('chmod', ['-R', 'a-w,a+rX', folder])
  return folder
}

/** Makes a folder that the other user can write to. */
export function makeOwnFolder(path: string): string {
  mkdirSync(path, { mode: 0o700 })
  if (otherUser.uid !== undefined) chownSync(path, otherUser.uid, otherUser.gid)
  return path
}

/** Runs a script of the copy as the other user, with no other variables than these. */
export function runScript(copy: string, script: string, env: Record<string, string>, args: string[] = []): OwnServer {
  const child = spawn(process.execPath, ['--import', './scripts/need-node.js', `scripts/${script}.ts`, ...args], {
    cwd: copy,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...otherUser,
  })
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const server: OwnServer = {
    pid: child.pid ?? 0,
    url: '',
    lines: () => output.split('\n').filter(Boolean),
    ready: new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
          const [, address] = /"Ready at (\S+) after /.exec(output) ?? []
          if (!address) return
          server.url = `http://${address}`
          resolve()
        })
      void ended.then((code) => reject(new Error(`It ended with ${code} before it was ready.\n${output}`)))
    }),
    ended,
    kill: (signal) => void child.kill(signal),
  }
  // Scripts that end at once are never ready.
  server.ready.catch(() => undefined)
  return server
}

/** Opens each database of a state folder that no server uses. */
export function openDatabases(stateDir: string, use: (database: DatabaseSync, path: string) => void): void {
  for (const path of globSync('v3/{d1,do,r2}/*/*.sqlite', { cwd: stateDir })) {
    const database = new DatabaseSync(join(stateDir, path))
    try {
      use(database, path)
    } finally {
      database.close()
    }
  }
}

/** Ends all claims of a server that was killed, as if the minutes had passed for which they last. */
export function endClaims(stateDir: string): void {
  openDatabases(stateDir, (database) => {
    const columns = database
      .prepare(
        `select tables.name as table_name, columns.name as column_name
          from sqlite_schema as tables, pragma_table_info(tables.name) as columns
          where tables.type = 'table' and columns.name in ('claimed_until', 'heartbeat_at')`,
      )
      .all()
    for (const { table_name, column_name } of columns)
      database.exec(
        `update "${String(table_name)}" set ${String(column_name)} = 1 where ${String(column_name)} is not null`,
      )
  })
}
