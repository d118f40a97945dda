import { type CelError, checkExpression, type Expression } from '../../cel/index.ts'
import { type FieldError, fieldError } from '../../errors.ts'
import type { EmailMessageType } from '../../messaging/email-messages.ts'
import { type Block, listBlocks, listLiquidFields, type PlainBlock } from './blocks.ts'

/** The most different conditions of a message. What a recipient fulfils is stored as one number. */
export const maxConditions = 8

/** Lists the different conditions of blocks in the order in which they first occur. */
export const listConditions = (blocks: readonly Block[]): string[] => [
  ...new Set(listBlocks(blocks).flatMap(({ block }) => block.condition ?? [])),
]

/** Opens the part of a template that only recipients see who fulfil the condition with this index. */
const openCondition = (index: number): string => `{% if block_conditions[${index}] %}`
const endOfCondition = '{% endif %}'

/** The Liquid around a block with a condition; null for a block that everyone sees. */
export function buildConditionTags(
  { condition }: Block | PlainBlock,
  conditions: readonly string[],
): readonly [open: string, end: string] | null {
  return condition === undefined ? null : [openCondition(conditions.indexOf(condition)), endOfCondition]
}

interface ConditionFault {
  code: string
  detail: string
  /** The position in the expression; absent when the fault concerns the whole expression. */
  place?: Pick<CelError, 'line' | 'column' | 'start' | 'end'>
}

function checkCondition(
  condition: string,
  findComplexity: (expression: Expression) => string | null,
): ConditionFault[] {
  const checkResult = checkExpression(condition)
  if (!checkResult.ok)
    return checkResult.errors.map(({ code, message, ...place }) => ({ code, detail: message, place }))
  const complexity = findComplexity(checkResult.expression)
  return complexity === null ? [] : [{ code: 'limit_exceeded', detail: complexity }]
}

/**
 * Lists the faults of conditions, each at its block. `findComplexity` says why a valid expression cannot be evaluated, or
 * returns null.
 */
export function findConditionFaults(
  blocks: readonly Block[],
  type: EmailMessageType,
  findComplexity: (expression: Expression) => string | null,
): FieldError[] {
  const conditions = listConditions(blocks)
  const places = listBlocks(blocks).flatMap(({ block: { condition }, path }) =>
    condition === undefined ? [] : [{ condition, path: [...path, 'condition'] }],
  )
  if (type !== 'campaign')
    return places.map(({ path }) =>
      fieldError(path, 'wrong_type', 'Only blocks of messages of type `campaign` can have a condition.'),
    )
  const excessConditions = new Set(conditions.slice(maxConditions))
  if (excessConditions.size > 0)
    return places
      .filter(({ condition }) => excessConditions.has(condition))
      .map(({ path }) =>
        fieldError(path, 'max_items', `A message can have at most ${maxConditions} different conditions.`),
      )
  const checks = new Map(conditions.map((condition) => [condition, checkCondition(condition, findComplexity)]))
  return places.flatMap(({ condition, path }) =>
    (checks.get(condition) ?? []).map((fault) => ({ ...fieldError(path, fault.code, fault.detail), ...fault.place })),
  )
}

/** Picks the blocks that somebody sees, without their conditions. Columns whose blocks are all hidden are left out. */
export function pickVisibleBlocks(blocks: readonly Block[], holds: (condition: string) => boolean): Block[] {
  const isVisible = ({ condition }: Block | PlainBlock): boolean => condition === undefined || holds(condition)
  const withoutCondition = <Any extends Block | PlainBlock>({ condition: _condition, ...block }: Any) => block as Any
  return blocks.filter(isVisible).flatMap((block): Block[] => {
    if (block.type !== 'columns') return [withoutCondition(block)]
    const columns = block.data.columns.map((column) => ({
      ...column,
      blocks: column.blocks.filter(isVisible).map(withoutCondition),
    }))
    return [withoutCondition({ ...block, data: { ...block.data, columns } })]
  })
}

/** Replaces the conditions of blocks, also of those in columns. */
export const mapConditions = (blocks: readonly Block[], change: (condition: string) => string): Block[] => {
  const mapBlock = <Any extends Block | PlainBlock>(block: Any): Any =>
    block.condition === undefined ? block : { ...block, condition: change(block.condition) }
  return blocks.map((block): Block => {
    if (block.type !== 'columns') return mapBlock(block)
    const columns = block.data.columns.map((column) => ({ ...column, blocks: column.blocks.map(mapBlock) }))
    return mapBlock({ ...block, data: { ...block.data, columns } })
  })
}

/** True for a block that shows something of its own, and not only a frame, such as a line. */
const hasContent = (block: Block): boolean =>
  block.type === 'columns'
    ? block.data.columns.some((column) => column.blocks.some(hasContent))
    : block.type !== 'footer' &&
      listLiquidFields(block).some(({ value }) =>
        typeof value === 'string' ? value.trim() !== '' : Object.values(value).some((text) => text.trim() !== ''),
      )

/** True if the conditions of the blocks leave nothing to read for some recipients. */
export const mayBeEmpty = (blocks: readonly Block[]): boolean =>
  listConditions(blocks).length > 0 && !pickVisibleBlocks(blocks, () => false).some(hasContent)
