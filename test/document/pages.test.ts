import { describe, expect, it } from 'vitest'
import { buildAnchor, findBrokenLinks, findMissingPaths } from '../../scripts/support/documents/links.ts'
import { drawSlices, reduceImports, readSliceImports } from '../../scripts/support/documents/slices.ts'

describe('the links of pages', () => {
  const files = new Set(['README.md', 'LICENSE', 'docs/a.md', 'docs/b.md', 'src/domain/ids.ts', 'src/app.ts'])
  const findBroken = (readme: string, other = '# A\n\n## Two words\n\n## Two words\n') =>
    findBrokenLinks(
      [
        { path: 'README.md', text: readme },
        { path: 'docs/a.md', text: other },
      ],
      files,
    )

  it('lead to files and headings that exist', () => {
    expect(findBroken('[a](docs/a.md#two-words-1) [b](docs/b.md) [web](https://example.com) [l](LICENSE)')).toEqual([])
  })

  it('are reported when no file or heading exists', () => {
    expect(findBroken('[a](docs/a.md#three) [b](docs/c.md#x) [c](#own)')).toEqual([
      'README.md: docs/a.md#three leads to no heading',
      'README.md: docs/c.md#x leads to no file',
      'README.md: #own leads to no heading',
    ])
  })

  it('are relative to the folder of their page', () => {
    expect(findBroken('[a](docs/a.md)', '[up](../README.md) [beside](b.md) [wrong](docs/b.md)')).toEqual([
      'docs/a.md: docs/b.md leads to no file',
    ])
  })

  it('are ignored inside code', () => {
    expect(findBroken('[a](docs/a.md)', '`[x](none.md)`\n\n```md\n[x](none.md)\n## Heading\n```\n')).toEqual([])
    expect(findBroken('[a](docs/a.md#heading)', '```md\n## Heading\n```\n')).toHaveLength(1)
  })

  it('lead to every page', () => {
    expect(findBroken('nothing', '[itself](a.md)')).toEqual(['docs/a.md: no page links to it'])
  })

  it('use the heading ids of code forges', () => {
    expect(buildAnchor("The page of a person's `consents`, [anew](x.md)")).toBe('the-page-of-a-persons-consents-anew')
  })

  it('exist for all pages, and files that are named as code exist', () => {
    const text = '`src/app.ts` `domain/ids.ts` `ids.ts` `src/domain/` `npm run x` `application/json` `NNNN_x.sql`'
    expect(findMissingPaths([{ path: 'README.md', text }], files)).toEqual([])
    expect(findMissingPaths([{ path: 'README.md', text: '`src/none.ts` `db/ids.ts` `none.ts`' }], files)).toEqual([
      'README.md: `src/none.ts` does not exist',
      'README.md: `db/ids.ts` does not exist',
      'README.md: `none.ts` does not exist',
    ])
  })
})

describe('the diagram of slices', () => {
  const imports = readSliceImports([
    ['src/modules/orders/list.ts', "import { a } from '../editions/index.ts'\nimport type { B } from './own.ts'"],
    ['src/modules/orders/deep/x.ts', "import {\n  a,\n} from '../../users/index.ts'\nimport '../../../domain/ids.ts'"],
    ['src/modules/users/index.ts', "export { a } from '../editions/index.ts'"],
    ['src/modules/editions/index.ts', "import { sql } from 'drizzle-orm'"],
    ['src/app.ts', "import { orders } from './modules/orders/routes.ts'"],
  ])

  it('has the imports between slices and no others', () => {
    expect(imports).toEqual(
      new Map([
        ['orders', new Set(['editions', 'users'])],
        ['users', new Set(['editions'])],
        ['editions', new Set()],
      ]),
    )
  })

  it('leaves out imports that a longer path implies', () => {
    expect(reduceImports(imports).get('orders')).toEqual(new Set(['users']))
    expect(drawSlices(imports)).toContain('orders --> users\n')
  })
})
