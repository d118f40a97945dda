import { type Ast, limits } from '../parse.ts'
import type { Call, TypeChecker } from './type-checker.ts'
import {
  type Expression,
  isList,
  isScalar,
  type ListType,
  type MacroName,
  type SourceRange,
  Refusal,
} from '../types.ts'
import { wordsOf } from '../mistakes/words.ts'

const arities: Record<MacroName, readonly number[]> = {
  exists: [2],
  exists_one: [2],
  all: [2],
  filter: [2],
  map: [2, 3],
}

const isMapped = (expression: Expression): boolean =>
  expression.node === 'macro' &&
  (expression.macro === 'map' || (expression.macro === 'filter' && isMapped(expression.range)))

interface MacroParts {
  list: Expression
  type: ListType
  variable: Ast & { op: 'id' }
  bodies: readonly Ast[]
}

function partsOf(
  checker: TypeChecker,
  macro: MacroName,
  { receiver, args }: Call<Ast>,
  range: SourceRange,
): MacroParts {
  if (!arities[macro].includes(args.length))
    throw new Refusal(
      'no_matching_overload',
      `\`${macro}\` takes a variable and a condition, such as \`orders.exists(o, o.status == "completed")\`.`,
      range,
    )
  const [variable, ...bodies] = args
  if (variable?.op !== 'id')
    throw new Refusal(
      'invalid_macro_argument',
      'The first argument has to be the name of a variable.',
      variable ?? range,
    )
  const list = checker.check(receiver)
  const type: ListType | undefined = list.type === 'json' ? { list: 'json', nullable: false } : asList(list)
  if (!type)
    throw new Refusal(
      'invalid_comprehension_range',
      `\`${macro}\` needs a list, and this is ${wordsOf(list.type)}.`,
      list,
    )
  if (macro === 'map' && isMapped(list)) throw new Refusal('unsupported', 'A list can be mapped once.', range)
  if (checker.elements.length >= limits.macros)
    throw new Refusal('limit_exceeded', `Macros nest at most ${limits.macros} deep.`, range)
  return { list, type, variable, bodies }
}

/** A macro over a list, or null when the call is none. */
export function checkMacro(checker: TypeChecker, call: Call<Ast>, range: SourceRange): Expression | null {
  if (!Object.hasOwn(arities, call.name)) return null
  const macro = call.name as MacroName
  const { list, type, variable, bodies } = partsOf(checker, macro, call, range)
  const { args: name, start, end } = variable
  checker.elements.push({
    node: 'variable',
    name,
    type: type.list,
    nullable: type.nullable,
    values: list.values,
    start,
    end,
  })
  try {
    const result = macro === 'map' ? resultOf(checker, bodies.at(-1) as Ast) : null
    const condition = macro === 'map' ? bodies.at(-2) : bodies[0]
    const predicate = condition ? checker.bool(condition, 'invalid_predicate') : null
    const made: ListType = result ? { list: result.type, nullable: result.nullable } : type
    return {
      node: 'macro',
      macro,
      range: list,
      variable: name,
      predicate,
      result,
      type: macro === 'map' || macro === 'filter' ? made : 'bool',
      nullable: false,
      values: result ? result.values : list.values,
      ...range,
    }
  } finally {
    checker.elements.pop()
  }
}

const asList = ({ type }: Expression): ListType | undefined => (isList(type) ? type : undefined)

function resultOf(checker: TypeChecker, ast: Ast): Expression {
  const result = checker.check(ast)
  if (!isScalar(result.type))
    throw new Refusal(
      'unsupported',
      `\`map\` makes a simple value of each element, and this is ${wordsOf(result.type)}.`,
      result,
    )
  return result
}
