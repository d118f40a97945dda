import { fieldsOfObject, variableNamed } from '../catalogue.ts'
import { checkCall } from './check-calls.ts'
import { checkMacro } from './check-macros.ts'
import { checkArithmetic, checkCompare, checkIn, checkMinus } from './check-operators.ts'
import { constantOf } from '../constants.ts'
import { type Ast, chainOf, type Parsed } from '../parse.ts'
import type { TypeChecker } from './type-checker.ts'
import { conditionHint, type Operand } from './type-hints.ts'
import {
  type Expression,
  isList,
  isScalar,
  type LiteralExpression,
  type ObjectName,
  type SourceRange,
  Refusal,
  type Scalar,
  type ValuesFrom,
} from '../types.ts'
import { unknownField, unknownVariable, fieldOfNothing } from '../mistakes/unknown-names.ts'
import { wordsOf } from '../mistakes/words.ts'

/** A literal that a field with known values is compared with. */
export interface KnownLiteral extends SourceRange {
  /** As in the context: `product_id`, `status`, … or `consent_key`. */
  field: string
  values_from: ValuesFrom
  /** Whether `value` is an id or a key, or a name. */
  by: 'value' | 'label'
  value: string
}

/** Gives every node of a parsed expression its type. Faults in operands of `&&` and `||` are collected in `refusals`. */
export class Checker implements TypeChecker {
  readonly literals: KnownLiteral[] = []
  isTimeDependent = false
  #nullableChoices = 0
  readonly elements: (Expression & { node: 'variable' })[] = []
  readonly #parsed: Parsed
  readonly #refusals: Refusal[]

  constructor(parsed: Parsed, refusals: Refusal[]) {
    this.#parsed = parsed
    this.#refusals = refusals
  }

  rangeOf(ast: SourceRange): SourceRange {
    return this.#parsed.rangeOf(ast)
  }

  textOf(ast: SourceRange): string {
    const { start, end } = this.rangeOf(ast)
    return this.#parsed.source.slice(start, end)
  }

  operand(expression: Expression, ast: Ast): Operand {
    return { expression, text: this.textOf(ast) }
  }

  check(ast: Ast): Expression {
    const range = this.rangeOf(ast)
    switch (ast.op) {
      case 'value':
        return constantOf(ast.args, range)
      case 'id':
        return this.#variable(ast.args, range)
      case '.':
        return this.access(ast.args[0], ast.args[1], range)
      case '[]':
        return this.#index(ast.args[0], ast.args[1], range)
      case '&&':
      case '||':
        return this.#logic(ast, ast.op, range)
      case '!_':
        return { node: 'not', operand: this.bool(ast.args), type: 'bool', nullable: false, ...range }
      case '-_':
        return checkMinus(this, ast.args, range)
      case '?:':
        return this.#choice(ast.args, range)
      case 'list':
        return this.#list(ast.args, range)
      case 'map':
        throw new Refusal('unsupported', 'Maps cannot be made in an expression.', range)
      case 'call':
        return checkCall(this, { name: ast.args[0], receiver: null, args: ast.args[1] }, range)
      case 'rcall': {
        const call = { name: ast.args[0], receiver: ast.args[1], args: ast.args[2] }
        return checkMacro(this, call, range) ?? checkCall(this, call, range)
      }
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return checkArithmetic(this, ast.op, ast.args, range)
      case 'in':
        return checkIn(this, ast.args, range)
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
        return checkCompare(this, ast.op, ast.args, range)
      default:
        throw new Refusal('unsupported', 'This is not supported.', range)
    }
  }

  bool(ast: Ast, code = 'invalid_logical_operand'): Expression {
    const operand = this.check(ast)
    if (operand.type === 'json') return this.as(operand, 'bool')
    if (operand.type !== 'bool')
      throw new Refusal(
        code,
        `This has to be true or false, and is ${wordsOf(operand.type)}.${conditionHint(this.operand(operand, ast))}`,
        operand,
      )
    return operand
  }

  as(operand: Expression, type: Scalar): Expression {
    if (operand.type !== 'json') return operand
    return { node: 'as', operand, type, nullable: false, start: operand.start, end: operand.end }
  }

  note(expression: Expression, literal: Expression): void {
    if (!expression.values || literal.node !== 'literal' || typeof literal.value !== 'string') return
    const { from, field, by } = expression.values
    this.literals.push({ field, values_from: from, by, value: literal.value, start: literal.start, end: literal.end })
  }

  #variable(name: string, range: SourceRange): Expression {
    const element = this.elements.findLast((one) => one.name === name)
    if (element) return { ...element, ...range }
    const variable = variableNamed(name)
    if (!variable) {
      const elements = this.elements.map((one) => one.name)
      throw new Refusal('unknown_variable', unknownVariable(name, elements), range)
    }
    if (name === 'now') {
      this.isTimeDependent = true
      return { node: 'now', type: 'timestamp', nullable: false, ...range }
    }
    return { node: 'variable', name, type: variable.type, nullable: false, ...range }
  }

  access(of: Ast, name: string, range: SourceRange): Expression {
    const object = this.check(of)
    const { type } = object
    if (type === 'json') return { node: 'member', object, key: name, type, nullable: false, ...range }
    if (type === 'consents') return this.consent(name, range)
    if (typeof type !== 'string' || !fieldsOfObject(type as ObjectName).size)
      throw new Refusal('cannot_index_type', fieldOfNothing(type, this.textOf(of), name), range)
    const field = fieldsOfObject(type as ObjectName).get(name)
    if (!field) throw new Refusal('no_such_key', unknownField(type as ObjectName, name), range)
    if (object.type === 'consent' && name === 'is_current') this.isTimeDependent = true
    return {
      node: 'field',
      object,
      name,
      type: field.type,
      nullable: field.nullable,
      ...(field.values_from ? { values: { from: field.values_from, field: name, by: 'value' } } : {}),
      ...(field.names_of ? { values: { from: field.names_of, field: name, by: 'label' } } : {}),
      ...range,
    }
  }

  consent(key: string, range: SourceRange): Expression {
    this.literals.push({ field: 'consent_key', values_from: 'consents', by: 'value', value: key, ...range })
    return { node: 'consent', key, type: 'consent', nullable: false, ...range }
  }

  #index(of: Ast, index: Ast, range: SourceRange): Expression {
    const key = this.check(index)
    if (key.node === 'literal' && typeof key.value === 'string') return this.access(of, key.value, range)
    const object = this.check(of)
    if (isList(object.type))
      throw new Refusal('unsupported', 'Elements of a list have no fixed order: use exists, all or filter.', range)
    throw new Refusal('unsupported', 'A key has to be a text that is written out.', key)
  }

  #logic(ast: Ast, op: '&&' | '||', range: SourceRange): Expression {
    const operands: Expression[] = []
    // Each operand has its own error, so that one check finds several.
    for (const operand of chainOf(ast, op)) {
      try {
        operands.push(this.bool(operand))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        this.#refusals.push(error)
      }
    }
    return { node: op === '&&' ? 'and' : 'or', operands, type: 'bool', nullable: false, ...range }
  }

  #choice([condition, yes, no]: [Ast, Ast, Ast], range: SourceRange): Expression {
    const before = this.#nullableChoices
    const test = this.bool(condition, 'invalid_condition_type')
    const chosen = this.check(yes)
    const otherwise = this.check(no)
    const type = chosen.type === 'null' ? otherwise.type : chosen.type
    const same = [chosen.type, otherwise.type].every((one) => one === type || one === 'null')
    if (!same || (type !== 'null' && !isScalar(type))) {
      const message = `Both branches need the same simple type, and are ${wordsOf(chosen.type)} and ${wordsOf(otherwise.type)}.`
      throw new Refusal('incompatible_ternary_branches', message, range)
    }
    const nullable = [chosen, otherwise].some((branch) => branch.nullable || branch.type === 'null')
    // Whether such a choice is null or an error takes its conditions a second time, and inside each other a fourth.
    if (nullable && before !== this.#nullableChoices)
      throw new Refusal('unsupported', 'Choices that may be null cannot contain each other.', range)
    if (nullable) this.#nullableChoices++
    return { node: 'choice', condition: test, chosen, otherwise, type, nullable, ...range }
  }

  #list(asts: readonly Ast[], range: SourceRange): Expression {
    const items = asts.map((ast) => this.check(ast))
    const constants = items.filter((item): item is LiteralExpression => item.node === 'literal')
    const stray = items.find((item) => item.node !== 'literal')
    if (stray) throw new Refusal('unsupported', 'The elements of a list have to be written out.', stray)
    const type = constants[0]?.type ?? 'never'
    const other = constants.find((item) => item.type !== type || item.type === 'null')
    if (other)
      throw new Refusal('heterogeneous_list_element', 'The elements of a list need the same simple type.', other)
    return { node: 'list', items: constants, type: { list: type, nullable: false }, nullable: false, ...range }
  }
}
