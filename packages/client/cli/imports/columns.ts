import { closest } from 'fastest-levenshtein'
import type { components, operations } from '../../src/index.ts'
import { askText, canAsk, choose } from '../ask.ts'
import { UsageError } from '../errors.ts'
import { cleanText } from '../output.ts'
import { type ImportJob, importPath, quoteWord, readPair } from './job.ts'

type Columns = components['schemas']['ColumnMappings']
type Column = components['schemas']['ColumnMapping']
type Problem = components['schemas']['ImportRowError']
type Change = NonNullable<operations['updateColumnMappings']['requestBody']>['content']['application/json']

const nameOf = ({ source_column, source_index }: Column): string => source_column || `#${source_index + 1}`

const loadColumns = async ({ context, id }: ImportJob): Promise<Columns> => {
  const path = { path: { id } }
  return (await context.client.GET('/v1/data-imports/{id}/column-mappings', { params: { ...path, query: {} } })).data
}

const updateColumns = async ({ context, id }: ImportJob, body: Change): Promise<void> =>
  void (await context.client.PATCH('/v1/data-imports/{id}/column-mappings', { ...importPath({ id }), body }))

/** Finds a column by its header, or by its position as in `#3`. */
function findColumn({ results }: Columns, name: string): Column {
  const sameName = results.filter(({ source_column }) => source_column === name)
  const [, position] = /^#(\d+)$/.exec(name) ?? []
  const column = sameName[0] ?? results.find(({ source_index }) => source_index + 1 === Number(position))
  if (column === undefined)
    throw new UsageError(`The file has no column "${name}". Did you mean "${closest(name, results.map(nameOf))}"?`)
  if (sameName.length > 1)
    throw new UsageError(
      `Several columns are called "${name}". Name one by its position, such as "#${column.source_index + 1}".`,
    )
  return column
}

/** The changes of `--map`, `--ignore` and `--constant` that are not made yet. */
function listChanges({ options }: ImportJob, columns: Columns): Required<Change> {
  const targets = options.map.map((pair) => {
    const { name, value } = readPair('--map', pair)
    return { column: findColumn(columns, name), target_field: value, is_ignored: false }
  })
  const ignored = options.ignore.map((name) => ({
    column: findColumn(columns, name),
    target_field: null,
    is_ignored: true,
  }))
  return {
    mappings: [...targets, ...ignored]
      .filter(
        ({ column, target_field, is_ignored }) =>
          column.target_field !== target_field || column.is_ignored !== is_ignored,
      )
      .map(({ column, target_field, is_ignored }) => ({ id: column.id, target_field, is_ignored })),
    constants: options.constant
      .map((pair) => readPair('--constant', pair))
      .filter(
        ({ name, value }) =>
          !columns.constants.some((constant) => constant.target_field === name && constant.value === value),
      )
      .map(({ name, value }) => ({ target_field: name, value })),
  }
}

/** Makes the changes that the options ask for. Returns true if there were any. */
export async function applyColumnOptions(job: ImportJob): Promise<boolean> {
  const { map, ignore, constant } = job.options
  if (map.length + ignore.length + constant.length === 0) return false
  const changes = listChanges(job, await loadColumns(job))
  if (changes.mappings.length + changes.constants.length === 0) return false
  await updateColumns(job, changes)
  return true
}

/** Asks for the columns that are unclear, until none is. In a pipe it says how to decide them. */
export async function decideColumns(job: ImportJob): Promise<void> {
  for (;;) {
    const { data } = await job.context.client.POST('/v1/data-imports/{id}/column-mappings/validate', importPath(job))
    const problems = data.errors.filter(({ row }) => row === null)
    const [problem] = problems
    if (data.is_valid || problem === undefined) return
    const columns = await loadColumns(job)
    if (!canAsk()) throw new UsageError(describeProblems(problems, columns))
    job.context.output.note(problem.message)
    await updateColumns(job, await askForChange(problem, columns))
  }
}

function describeProblems(problems: readonly Problem[], columns: Columns): string {
  const lines = problems.map((problem) => `  ${problem.message}\n    ${suggestOption(problem, columns)}`)
  return `Some columns are unclear. Decide them with options and run the command again; it goes on with the same import.\n${lines.join('\n')}`
}

const isAmount = ({ target_fields }: Columns, { target_field }: Problem): boolean =>
  target_fields.some(({ key, type }) => key === target_field && ['money', 'quantity'].includes(type))

function suggestOption(problem: Problem, columns: Columns): string {
  const column = columns.results.find(({ source_index }) => source_index === problem.source_index)
  const name = column === undefined ? 'Header' : nameOf(column)
  const map = (target: string) => `--map ${quoteWord(`${name}=${target}`)}`
  switch (problem.code) {
    case 'ambiguous_format':
      return isAmount(columns, problem)
        ? '--option decimal_separator=, or --option decimal_separator=.'
        : '--option date_format=dmy or --option date_format=mdy or --option date_format=ymd'
    case 'missing_target':
      return `${map(problem.target_field ?? '')} with one of your headers, or --constant ${quoteWord(`${problem.target_field}=value`)}`
    case 'undecided_column':
      return `${map(problem.target_field ?? '')} or --ignore ${quoteWord(name)}`
    default:
      return `${map('target')} or --ignore ${quoteWord(name)}`
  }
}

const askForChange = (problem: Problem, columns: Columns): Promise<Change> => {
  if (problem.code === 'missing_target') return askForSource(problem, columns)
  if (problem.code === 'duplicate_target') return askForOneColumn(problem, columns)
  const column = columns.results.find(({ source_index }) => source_index === problem.source_index)
  if (column === undefined) throw new UsageError(problem.message)
  return problem.code === 'ambiguous_format' ? askForFormat(problem, columns, column) : askForTarget(column, columns)
}

const describeSamples = ({ sample_values }: Column): string => sample_values.slice(0, 3).join(', ')

/** Asks which column, or which constant, a required target gets. */
async function askForSource({ target_field }: Problem, { results, target_fields }: Columns): Promise<Change> {
  const target = target_field ?? ''
  const label = target_fields.find(({ key }) => key === target)?.label ?? target
  // The columns without a target come first.
  const columns = results.toSorted(
    (one, other) => Number(one.target_field !== null) - Number(other.target_field !== null),
  )
  const id = await choose(`Which column has ${label} (${target})?`, [
    ...columns.map((column) => ({ value: column.id, label: nameOf(column), hint: describeSamples(column) })),
    { value: '', label: 'None: the same value for every row' },
  ])
  if (id !== '') return { mappings: [{ id, target_field: target, is_ignored: false }] }
  return { constants: [{ target_field: target, value: await askText(`The value of ${label} in every row`) }] }
}

async function askForOneColumn({ target_field }: Problem, { results }: Columns): Promise<Change> {
  const columns = results.filter((column) => column.target_field === target_field)
  const id = await choose(
    `Which of these columns is ${target_field}?`,
    columns.map((column) => ({ value: column.id, label: nameOf(column), hint: describeSamples(column) })),
  )
  return {
    mappings: columns.filter((column) => column.id !== id).map((column) => ({ id: column.id, target_field: null })),
  }
}

async function askForFormat(problem: Problem, columns: Columns, { id, transform }: Column): Promise<Change> {
  if (isAmount(columns, problem)) {
    const decimal = await choose('What separates the decimals?', [
      { value: ',', label: 'A comma: 1.234,50' },
      { value: '.', label: 'A point: 1,234.50' },
    ])
    return { mappings: [{ id, transform: { type: 'number', args: { decimal } } }] }
  }
  const order = await choose('In which order are the parts of a date?', [
    { value: 'dmy', label: 'Day, month, year' },
    { value: 'mdy', label: 'Month, day, year' },
    { value: 'ymd', label: 'Year, month, day' },
  ])
  const args = transform.type === 'date' ? transform.args : {}
  return { mappings: [{ id, transform: { type: 'date', args: { ...args, order } } }] }
}

async function askForTarget(column: Column, { target_fields }: Columns): Promise<Change> {
  const choices = [
    { value: '', label: 'Nothing: leave it out' },
    ...target_fields.map(({ key, label }) => ({ value: key, label, hint: key })),
  ]
  const question = `What is "${nameOf(column)}" (${describeSamples(column)})?`
  const target = await choose(question, choices, column.target_field ?? '')
  const change = target === '' ? { target_field: null, is_ignored: true } : { target_field: target, is_ignored: false }
  return { mappings: [{ id: column.id, ...change }] }
}

/** Shows what the columns become, and lets a person change them. */
export async function reviewColumns(job: ImportJob): Promise<void> {
  const { output } = job.context
  for (;;) {
    const columns = await loadColumns(job)
    if (output.isTable) output.rows(columns.results.map(toRow), ['column', 'becomes', 'samples'])
    if (job.options.yes || !canAsk()) return
    const id = await choose('Are these columns right?', [
      { value: '', label: 'Yes' },
      ...columns.results.map((column) => ({ value: column.id, label: `Change ${nameOf(column)}` })),
    ])
    const column = columns.results.find((one) => one.id === id)
    if (column === undefined) return
    await updateColumns(job, await askForTarget(column, columns))
    await decideColumns(job)
  }
}

const toRow = (column: Column) => ({
  column: nameOf(column),
  becomes: column.target_field ?? (column.is_ignored ? '(left out)' : '(not imported)'),
  samples: cleanText(describeSamples(column)),
})
