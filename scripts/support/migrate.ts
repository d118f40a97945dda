import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { getPlatformProxy, unstable_splitSqlQuery as statementsOf } from 'wrangler'
import { root } from './paths.ts'
import { otherSchemaCode } from './processes.ts'

/**
 * `wrangler d1 migrations apply --local`, which starts a simulator for each migration. Each is one transaction, and is noted in the
 * same table. It ends with `otherSchemaCode`, and changes nothing, where a migration was applied whose file is not there.
 */
const text = { type: 'string' } as const
const { values } = parseArgs({ options: { config: text, 'persist-to': text, 'env-file': text } })
const { config, 'persist-to': folder, 'env-file': envFile } = values
if (!config || !folder || !envFile) throw new Error('--config, --persist-to and --env-file are given.')

const { env, dispose } = await getPlatformProxy<{ DB: D1Database }>({
  configPath: config,
  envFiles: [envFile],
  persist: { path: join(folder, 'v3') },
  remoteBindings: false,
})
const migrations = join(root, 'migrations')

async function listApplied(): Promise<Set<string>> {
  const { results } = await env.DB.prepare('select name from d1_migrations').all<{ name: string }>()
  return new Set(results.map(({ name }) => name))
}

/** The connection to the simulator may be lost during a long migration that is applied all the same. */
async function apply(name: string): Promise<void> {
  const statements = statementsOf(await readFile(join(migrations, name), 'utf8'))
  try {
    await env.DB.batch([
      ...statements.map((statement) => env.DB.prepare(statement)),
      env.DB.prepare('insert into d1_migrations (name) values (?)').bind(name),
    ])
  } catch (cause) {
    if (!(await listApplied()).has(name)) throw new Error(`Migration ${name} failed.`, { cause })
  }
}

try {
  await env.DB.prepare(
    `create table if not exists d1_migrations (
      id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null)`,
  ).run()
  const names = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).toSorted()
  const applied = await listApplied()
  if ([...applied].some((name) => !names.includes(name))) process.exitCode = otherSchemaCode
  else for (const name of names) if (!applied.has(name)) await apply(name)
} finally {
  await dispose()
}
