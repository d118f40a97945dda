import { fieldsOfObject, findVariable } from '../catalogue.ts'
import { buildConstant } from '../constants.ts'
import {
  describeFieldOfValue,
  describeType,
  describeUnknownField,
  describeUnknownVariable,
  type Operand,
  suggestCondition,
} from '../messages.ts'
import { type Ast, limits, listOperands, type Parsed } from '../parse.ts'
import {
  type Expression,
  isListType,
  isScalar,
  type LiteralExpression,
  type ObjectName,
  type SourceRange,
  Refusal,
  type Scalar,
  type ValueKind,
} from '../types.ts'
import {
  checkArithmetic,
  checkCall,
  checkCompare,
  checkIn,
  checkMacro,
  checkMinus,
  type TypeChecker,
} from './operations.ts'

/** A literal that is compared with a field whose values are known. */
export interface KnownLiteral extends SourceRange {
  /** The name of the field in the CEL context, such as `product_id`, or `consent_key`. */
  field: string
  values_from: ValueKind
  /** `value` for an id or a key, `label` for a name. */
  by: 'value' | 'label'
  value: string
}

/** Checks the types of a parsed expression. Errors in operands of `&&` and `||` are collected in `refusals`. */
export class Checker implements TypeChecker {
  readonly literals: KnownLiteral[] = []
  isTimeDependent = false
  #nullableChoices = 0
  #consents = 0
  #zones = 0
  readonly elements: (Expression & { node: 'variable' })[] = []
  readonly parseResult: Parsed
  readonly #refusals: Refusal[]

  constructor(parseResult: Parsed, refusals: Refusal[]) {
    this.parseResult = parseResult
    this.#refusals = refusals
  }

  expandRange(ast: SourceRange): SourceRange {
    return this.parseResult.expandRange(ast)
  }

  describeOperand(expression: Expression, ast: Ast): Operand {
    const { start, end } = this.expandRange(ast)
    return { expression, text: this.parseResult.source.slice(start, end) }
  }

  enterList(range: SourceRange): void {
    if (this.elements.length >= limits.nesting)
      throw new Refusal('limit_exceeded', `Lists can be nested at most ${limits.nesting} deep.`, range)
  }

  enterZone(range: SourceRange): void {
    if (++this.#zones > limits.zones)
      throw new Refusal('limit_exceeded', `An expression can use time zones at most ${limits.zones} times.`, range)
  }

  check(ast: Ast): Expression {
    const range = this.expandRange(ast)
    switch (ast.op) {
      case 'value':
        return buildConstant(ast.args, range)
      case 'id':
        return this.#variable(ast.args, range)
      case '.':
        return this.#access(ast.args[0], ast.args[1], range)
      case '[]':
        return this.#index(ast.args[0], ast.args[1], range)
      case '&&':
      case '||':
        return this.#logic(ast, ast.op, range)
      case '!_':
        return { node: 'not', operand: this.checkCondition(ast.args), type: 'bool', nullable: false, ...range }
      case '-_':
        return checkMinus(this, ast.args, range)
      case '?:':
        return this.#choice(ast.args, range)
      case 'list':
        return this.#list(ast.args, range)
      case 'map':
        throw new Refusal('unsupported', 'Maps are not supported in expressions.', range)
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
        throw new Refusal('unsupported', 'This syntax is not supported.', range)
    }
  }

  checkCondition(ast: Ast, code = 'invalid_logical_operand'): Expression {
    const operand = this.check(ast)
    if (operand.type === 'json') return this.convertMetadata(operand, 'bool')
    if (operand.type !== 'bool')
      throw new Refusal(
        code,
        `This must be true or false, and it is ${describeType(operand.type)}.${suggestCondition(this.describeOperand(operand, ast))}`,
        operand,
      )
    return operand
  }

  convertMetadata(operand: Expression, type: Scalar): Expression {
    if (operand.type !== 'json') return operand
    return { node: 'as', operand, type, nullable: false, start: operand.start, end: operand.end }
  }

  recordLiteral(comparedExpression: Expression, literal: Expression): void {
    if (!comparedExpression.values || literal.node !== 'literal' || typeof literal.value !== 'string') return
    const { from, field, by } = comparedExpression.values
    this.literals.push({ field, values_from: from, by, value: literal.value, start: literal.start, end: literal.end })
  }

  #variable(name: string, range: SourceRange): Expression {
    const element = this.elements.findLast((candidate) => candidate.name === name)
    if (element) return { ...element, ...range }
    const variable = findVariable(name)
    if (!variable) {
      const names = this.elements.map((candidate) => candidate.name)
      throw new Refusal('unknown_variable', describeUnknownVariable(name, names), range)
    }
    if (name === 'now') {
      this.isTimeDependent = true
      return { node: 'now', type: 'timestamp', nullable: false, ...range }
    }
    return { node: 'variable', name, type: variable.type, nullable: false, ...range }
  }

  #access(owner: Ast, name: string, range: SourceRange): Expression {
    const object = this.check(owner)
    const { type } = object
    if (type === 'json') return { node: 'member', object, key: name, type, nullable: false, ...range }
    if (type === 'consents') return this.buildConsent(name, range)
    if (typeof type !== 'string' || !fieldsOfObject(type as ObjectName).size)
      throw new Refusal('cannot_index_type', describeFieldOfValue(type, name), range)
    const field = fieldsOfObject(type as ObjectName).get(name)
    if (!field) throw new Refusal('no_such_key', describeUnknownField(type as ObjectName, name), range)
    if (type === 'stats') this.enterList(range)
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

  buildConsent(key: string, range: SourceRange): Expression {
    if (++this.#consents > limits.consents)
      throw new Refusal('limit_exceeded', `An expression can use consents at most ${limits.consents} times.`, range)
    this.literals.push({ field: 'consent_key', values_from: 'consents', by: 'value', value: key, ...range })
    return { node: 'consent', key, type: 'consent', nullable: false, ...range }
  }

  #index(owner: Ast, index: Ast, range: SourceRange): Expression {
    const key = this.check(index)
    if (key.node === 'literal' && typeof key.value === 'string') return this.#access(owner, key.value, range)
    const object = this.check(owner)
    if (isListType(object.type))
      throw new Refusal(
        'unsupported',
        'The elements of a list have no fixed order. Use `exists`, `all` or `filter`.',
        range,
      )
    throw new Refusal('unsupported', 'A key must be a text literal.', key)
  }

  #logic(ast: Ast, op: '&&' | '||', range: SourceRange): Expression {
    const operands: Expression[] = []
    for (const operand of listOperands(ast, op)) {
      try {
        operands.push(this.checkCondition(operand))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        this.#refusals.push(error)
      }
    }
    return { node: op === '&&' ? 'and' : 'or', operands, type: 'bool', nullable: false, ...range }
  }

  #choice([condition, yes, no]: [Ast, Ast, Ast], range: SourceRange): Expression {
    const choicesBefore = this.#nullableChoices
    const test = this.checkCondition(condition, 'invalid_condition_type')
    const result = this.check(yes)
    const otherwise = this.check(no)
    const type = result.type === 'null' ? otherwise.type : result.type
    const areSame = [result.type, otherwise.type].every((branchType) => branchType === type || branchType === 'null')
    if (!areSame || (type !== 'null' && !isScalar(type))) {
      const message = `Both branches must have the same simple type, and they are ${describeType(result.type)} and ${describeType(otherwise.type)}.`
      throw new Refusal('incompatible_ternary_branches', message, range)
    }
    const nullable = [result, otherwise].some((branch) => branch.nullable || branch.type === 'null')
    // The SQL of a choice that can be null contains its branches twice, so nesting them would double it each time.
    if (nullable && choicesBefore !== this.#nullableChoices)
      throw new Refusal('unsupported', 'A choice that can be null cannot contain another one.', range)
    if (nullable) this.#nullableChoices++
    return { node: 'choice', condition: test, consequence: result, otherwise, type, nullable, ...range }
  }

  #list(asts: readonly Ast[], range: SourceRange): Expression {
    const items = asts.map((ast) => this.check(ast))
    const constants = items.filter((item): item is LiteralExpression => item.node === 'literal')
    const computedItem = items.find((item) => item.node !== 'literal')
    if (computedItem) throw new Refusal('unsupported', 'The elements of a list must be literals.', computedItem)
    const type = constants[0]?.type ?? 'never'
    const differentItem = constants.find((item) => item.type !== type || item.type === 'null')
    if (differentItem)
      throw new Refusal(
        'heterogeneous_list_element',
        'The elements of a list must have the same simple type.',
        differentItem,
      )
    return { node: 'list', items: constants, type: { list: type, nullable: false }, nullable: false, ...range }
  }
}
