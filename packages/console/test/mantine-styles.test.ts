import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const source = join(import.meta.dirname, '..', 'src')
const styles = join(dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css')), 'styles')

/** The components of Mantine that the file imports. */
const listComponents = (text: string): string[] =>
  [...text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  )

it('loads the styles of every component that a page uses', () => {
  const sheet = readFileSync(join(source, 'mantine.css'), 'utf8')
  const files = globSync('**/*.{ts,tsx}', { cwd: source }).map((file) => readFileSync(join(source, file), 'utf8'))
  const components = [...new Set(files.flatMap(listComponents))].filter((name) =>
    existsSync(join(styles, `${name}.css`)),
  )
  expect(components).toContain('Button')
  expect(components.filter((name) => !sheet.includes(`'@mantine/core/styles/${name}.css'`))).toEqual([])
})
