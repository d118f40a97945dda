import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, checks } from '../src/domain/editions/health/index.ts'
import { type Operation, tags } from '../src/http/operations/operation.ts'
import { root } from './support/paths.ts'
import { costTables } from './support/documents/cost-page.ts'
import { brokenLinks, missingPaths } from './support/documents/links.ts'
import { sliceImports, slicesSection } from './support/documents/slices.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations } = await import('../src/app.ts')

const row = ({ method, path, id, summary, roles }: Operation): string =>
  `| \`${method.toUpperCase()}\` | \`${path}\` | \`${id}\` | ${summary} | ${roles.length ? roles.join(' ') : 'superuser'} |`

const tables = tags.flatMap((tag) => {
  const own = operations.filter((operation) => operation.tag === tag)
  if (own.length === 0) return []
  return [
    `**${tag}**`,
    ['| | Path | Operation | | Roles |', '| --- | --- | --- | --- | --- |', ...own.map(row)].join('\n'),
  ]
})

const checkRow = ({ id, severity, rule, suggestion }: Check): string =>
  `| \`${id}\` | ${severity} | ${rule} | ${suggestion} |`

const checkTable = [
  '| Check | | What it wants | What to do |',
  '| --- | --- | --- | --- |',
  ...checks.map(checkRow),
].join('\n')

const isCheck = process.argv.includes('--check')
const read = (name: string) => readFile(join(root, name), 'utf8')

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

// Formatting pads the columns of tables.
const bare = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-')

/** Writes the page where it is stale. With --check it fails instead. */
async function renew(name: string, make: (before: string) => string): Promise<void> {
  const before = await read(name).catch(() => '')
  const after = make(before)
  if (bare(before) === bare(after)) return
  if (isCheck) fail(`${name} is stale. Run: npm run readme`)
  else await writeFile(join(root, name), after)
}

/** Replaces the part of a page between the marks of a section. */
async function renewSection(name: string, section: string, content: string): Promise<void> {
  const [begin, end] = [`<!-- ${section}: npm run readme -->`, `<!-- /${section} -->`]
  await renew(name, (text) => {
    const [start, stop] = [text.indexOf(begin), text.indexOf(end)]
    if (start < 0 || stop < start) throw new Error(`${name} has lost the marks of its section ${section}.`)
    return `${text.slice(0, start + begin.length)}\n\n${content}\n\n${text.slice(stop)}`
  })
}

const files = new Set<string>()
for await (const file of glob(['*', '.*', '{src,test,scripts,migrations,docs,.ci}/**/*'], { cwd: root }))
  files.add(file)
const readAll = (names: string[]) => Promise.all(names.map(async (path) => ({ path, text: await read(path) })))

const sources = await readAll([...files].filter((file) => /^src\/modules\/.*\.ts$/.test(file)))
const slices = sliceImports(sources.map(({ path, text }) => [path, text]))

await renewSection('docs/operations.md', 'operations', tables.join('\n\n'))
await renewSection('docs/editions.md', 'checks', checkTable)
await renewSection('docs/architecture.md', 'slices', slicesSection(slices))
for (const [section, text] of Object.entries(costTables)) await renewSection('docs/cost.md', section, text)

if (isCheck) {
  const pages = await readAll([...files].filter((file) => file.endsWith('.md')).toSorted())
  for (const message of [...brokenLinks(pages, files), ...missingPaths(pages, files)]) fail(message)
}
