import { describe, expect, it } from 'vitest'
import { importsRight, type PublishedExport, scoreColumns } from '../support/import-mapping/exports.ts'

const tuned = import.meta.glob<PublishedExport>('../support/import-mapping/exports/tuned/*.json', {
  import: 'default',
  eager: true,
})
/** Files whose single results were not looked at while the suggestions were improved. */
const heldBack = import.meta.glob<PublishedExport>('../support/import-mapping/exports/held-back/*.json', {
  import: 'default',
  eager: true,
})

const percent = (part: number, all: number): number => Math.round((part / all) * 1000) / 10

describe.each([
  ['files that suggestions were tuned on', Object.values(tuned)],
  ['held-back files', Object.values(heldBack)],
])('suggestions for exports of public systems: %s', (name, files) => {
  const columns = files.flatMap(scoreColumns)
  const expected = columns.filter(({ rightTargets }) => !rightTargets.includes(null))
  const suggested = columns.filter((column) => column.suggested !== null)
  const right = percent(expected.filter(({ isRight }) => isRight).length, expected.length)
  const wrong = percent(suggested.filter(({ isRight }) => !isRight).length, suggested.length)
  const imported = files.filter(importsRight).length

  it('find the right target for 90 % of the columns that have one', () => {
    console.info(`${name}: ${right} % of ${expected.length} columns with a target are right.`)
    expect(files.length).toBeGreaterThanOrEqual(30)
    expect(right).toBeGreaterThanOrEqual(90)
  })

  it('are wrong for fewer than 2 % of the columns that get a suggestion', () => {
    console.info(`${name}: ${wrong} % of ${suggested.length} suggestions are wrong.`)
    expect(wrong).toBeLessThan(2)
  })

  it('import 81 % of the files with nothing but the answers that are asked for', () => {
    console.info(`${name}: ${imported} of ${files.length} files become the right orders.`)
    expect(percent(imported, files.length)).toBeGreaterThanOrEqual(81)
  })
})
