import { build } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/** Lists the packages that a script imports, and what it imports of the project. */
async function listPackages(entryPoints: string[]): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'none',
    format: 'esm',
    platform: 'node',
    packages: 'external',
    external: ['cloudflare:*'],
    logLevel: 'error',
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const sources = await Promise.all(Object.keys(metafile.inputs).map((path) => readFile(path, 'utf8')))
  const paths = [
    ...imports.filter(({ external }) => external).map(({ path }) => path),
    ...sources.flatMap((source) => [...source.matchAll(/\brequire\('([^'.]+)'\)/g)].map(([, path = '']) => path)),
  ]
  const names = paths.filter((path) => !/^(node|cloudflare):/.test(path))
  return new Set(names.map((path) => path.split('/', path.startsWith('@') ? 2 : 1).join('/')))
}

describe('an installation without the tools of development', () => {
  it('has every package that a server on an own machine runs with', async () => {
    const { dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as { dependencies: object }
    const scripts = ['scripts/serve.ts', 'scripts/backup.ts', 'scripts/verify.ts', 'scripts/support/dev-worker.ts']
    const packages = await listPackages([...scripts, 'src/index.ts'])
    for (const name of ['esbuild', 'hono', 'miniflare', 'wrangler']) expect(packages).toContain(name)
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...packages]))
  })
})
