import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { locateDatabase } from '../../scripts/support/migrate.ts'
import { root } from '../../scripts/support/paths.ts'

const run = promisify(execFile)
const ownScopes = new Set(['@ecms', '@event-commerce'])

/** Links the packages of this project into a folder, except those that the folder has in a version of its own. */
async function linkModules(folder: string): Promise<void> {
  const modules = join(root, 'node_modules')
  for (const name of await readdir(modules)) {
    const target = join(folder, 'node_modules', name)
    await mkdir(dirname(target), { recursive: true })
    if (!ownScopes.has(name)) await symlink(join(modules, name), target)
  }
  for (const name of await readdir(join(folder, 'packages'))) {
    const { default: manifest } = (await import(join(folder, 'packages', name, 'package.json'), {
      with: { type: 'json' },
    })) as { default: { name: string } }
    const target = join(folder, 'node_modules', manifest.name)
    await mkdir(dirname(target), { recursive: true })
    await symlink(join(folder, 'packages', name), target)
  }
}

/** Writes the code of a released version into a folder. Returns false where git does not have its tag. */
export async function unpackVersion(version: string, folder: string): Promise<boolean> {
  const archive = join(dirname(folder), `${version}.tar`)
  const args = ['archive', '--output', archive, `v${version}`]
  const hasTag = await run('git', args, { cwd: root }).then(
    () => true,
    () => false,
  )
  if (!hasTag) return false
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xf', archive, '-C', folder])
  await linkModules(folder)
  // The program of the test comes into it, and nothing else.
  await cp(join(root, 'test', 'slow', 'upgrade'), join(folder, 'test', 'slow', 'upgrade'), { recursive: true })
  return true
}

/** Puts a database in the place where a server with this state folder reads it. Returns its path. */
export async function placeDatabase(stateDir: string, database: Buffer): Promise<string> {
  const require = createRequire(import.meta.url)
  const { unstable_readConfig } = require('wrangler') as typeof import('wrangler')
  const [binding] = unstable_readConfig({ config: join(root, 'wrangler.toml') }).d1_databases
  const id = binding?.preview_database_id ?? binding?.database_id ?? binding?.binding ?? ''
  const path = locateDatabase(join(stateDir, 'v3'), id)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, database)
  return path
}
