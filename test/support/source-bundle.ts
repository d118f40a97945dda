import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown, type Plugin as RolldownPlugin } from 'rolldown'
import type { Plugin } from 'vitest/config'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, '.wrangler', 'source-bundle')

/** Libraries that tests share with src/ beside its modules. */
const shared = ['drizzle-orm', 'drizzle-orm/sqlite-core']

/** The file with all modules, which the runtime loads by a rule in vitest.config.ts. */
const bundleFile = join(folder, 'all.mjs')

const webAssembly: RolldownPlugin = {
  name: 'web-assembly',
  resolveId: (id) =>
    id.endsWith('.wasm') ? { id: fileURLToPath(import.meta.resolve(id)), external: 'absolute' } : null,
}

/** Writes src/, the packages and their libraries as one file, and returns a module for each that exports the same from there. */
async function build(): Promise<Map<string, string>> {
  const sources = globSync(['src/**/*.ts', 'packages/{client,table-reader}/src/**/*.ts'], { cwd: root }).filter(
    (path) => !path.endsWith('.d.ts'),
  )
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries([...sources.map((path) => [path, join(root, path)]), ...shared.map((id) => [id, id])]),
    external: /^(cloudflare|node):/,
    platform: 'neutral',
    resolve: { conditionNames: ['workerd', 'worker', 'browser', 'import'], mainFields: ['browser', 'module', 'main'] },
    plugins: [webAssembly],
    preserveEntrySignatures: 'strict',
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: 'entries/[name].mjs',
    chunkFileNames: '[name].mjs',
    codeSplitting: { groups: [{ name: 'all', test: /./ }] },
  })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  if (chunks.filter(({ isEntry }) => !isEntry).length !== 1) throw new Error('The source bundle is not one file.')
  return new Map(
    chunks
      .filter(({ isEntry }) => isEntry)
      .map(({ name, code }) => [
        shared.includes(name) ? name : join(root, name),
        code.replace(/from "[^"]*\/all\.mjs"/, `from ${JSON.stringify(bundleFile)}`),
      ]),
  )
}

/**
 * Serves src/, the packages and their libraries to the tests as one module, because loading each of hundreds into workerd costs every
 * test file seconds. Tests and the Worker share each module.
 */
export function sourceBundle(): Plugin {
  let modules: Promise<Map<string, string>> | undefined
  return {
    name: 'source-bundle',
    enforce: 'pre',
    resolveId: (id) => (shared.includes(id) ? id : null),
    load: async (id) => (await (modules ??= build())).get(id) ?? null,
  }
}
