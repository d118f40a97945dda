import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Operation, tags } from '../src/http/operation.ts'
import { root } from './support/paths.ts'
import { importWasm } from './support/wasm.ts'

importWasm()
const { operations } = await import('../src/app.ts')

const [begin, end] = ['<!-- operations: npm run readme -->', '<!-- /operations -->']
const file = join(root, 'README.md')

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

const before = await readFile(file, 'utf8')
const [start, stop] = [before.indexOf(begin), before.indexOf(end)]
if (start < 0 || stop < start) throw new Error('README.md has lost the marks of its table of operations.')
const after = `${before.slice(0, start + begin.length)}\n\n${tables.join('\n\n')}\n\n${before.slice(stop)}`
// Formatting pads the columns of tables.
const bare = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-+/g, '-')
if (bare(before) === bare(after)) process.exit()
if (process.argv.includes('--check')) {
  console.error('The table of operations in README.md is stale. Run: npm run readme')
  process.exit(1)
}
await writeFile(file, after)
