import { type Expression, isList, type MacroExpression, type ExpressionOf } from './types.ts'

/** Lists that an expression can walk through, by where their length is kept; `written` ones are part of the source. */
type KeptList = 'orders' | 'purchases' | 'campaigns' | 'options' | 'user_metadata' | 'order_metadata'

/** The longest list of each kind that one person of an organisation has. It may be too high and is never too low. */
export type ListSizes = Record<KeptList, number>

export const noLists: ListSizes = {
  orders: 0,
  purchases: 0,
  campaigns: 0,
  options: 0,
  user_metadata: 0,
  order_metadata: 0,
}

/** Measured on D1, in tenths of a microsecond. */
export const work = {
  /** The cost to begin any list. */
  list: 25,
  element: 8,
  bareElement: 4,
  entry: 13,
  value: 1,
  arithmetic: 3,
  text: 5,
  conversion: 15,
  lookUp: 8,
  edition: 10,
  consent: 30,
  metadata: 45,
} as const
export interface ListRead {
  kind: KeptList | 'written'
  size: number
}

/** Work that is done once for each combination of elements of the lists around it. */
export interface Site {
  lists: readonly ListRead[]
  node: Expression
  /** The work for each combination, without the nested lists. */
  work: number
}

/** The variable of a macro. */
interface ElementVariable {
  name: string
  /** ExpressionOf an element of metadata: where the metadata is. */
  metadata: KeptList
  /** The `map` that has made it: the database may make it anew at each use. */
  map: MacroExpression | null
}

const textCalls = ['contains', 'startsWith', 'endsWith', 'lowerAscii', 'upperAscii']

/** Walks through an expression as its SQL does, and notes what is done for each combination of elements. */
class Survey {
  readonly sites: Site[] = []
  readonly #sizes: ListSizes
  #lists: readonly ListRead[] = []
  #elements: readonly ElementVariable[] = []
  #site: Site

  constructor(sizes: ListSizes, expression: Expression) {
    this.#sizes = sizes
    this.#site = { lists: [], node: expression, work: 0 }
    this.sites.push(this.#site)
    this.value(expression)
  }

  value(node: Expression): void {
    switch (node.node) {
      case 'literal':
      case 'now':
      case 'list':
        return
      case 'variable':
        return this.#variable(node)
      case 'field':
        return this.#field(node)
      case 'consent':
      case 'has_consent':
        return this.#spend(work.consent)
      case 'member':
      case 'has_member':
        return this.#spend(work.metadata)
      case 'as':
        this.value(node.operand)
        return this.#spend(work.value)
      case 'and':
      case 'or':
        for (const operand of node.operands) this.value(operand)
        return
      case 'not':
      case 'minus':
        return this.value(node.operand)
      case 'arithmetic':
      case 'compare':
        this.value(node.left)
        this.value(node.right)
        return this.#spend(node.node === 'compare' ? work.value : work.arithmetic)
      case 'choice':
        for (const branch of [node.condition, node.chosen, node.otherwise]) this.value(branch)
        // Testing whether the result is null or an error evaluates them again.
        if (node.nullable) for (const branch of [node.condition, node.chosen, node.otherwise]) this.value(branch)
        return
      case 'call':
        return this.#call(node)
      case 'in':
        return this.#in(node)
      case 'macro':
        // `exists_one` takes each condition twice: for its truth, and for whether it is an error.
        return this.#inside(node.range, node, () => this.#body(node), this.#eachOf(node))
    }
  }

  #spend(amount: number): void {
    this.#site.work += amount
  }

  #elementNamed(name: string): ElementVariable | undefined {
    return this.#elements.findLast((element) => element.name === name)
  }

  #variable(node: ExpressionOf<'variable'>): void {
    if (node.type === 'json') this.#spend(work.metadata)
    const map = this.#elementNamed(node.name)?.map
    if (!map?.result) return
    const before = this.#elements
    this.#elements = before.slice(
      0,
      before.findLastIndex(({ name }) => name === node.name),
    )
    const { result } = map
    this.#with({ name: map.variable, metadata: this.#metadataOf(map.range), map: null }, () => this.value(result))
    this.#elements = before
  }

  #field(node: ExpressionOf<'field'>): void {
    const { object, name } = node
    if (object.node === 'consent') return this.#spend(2 * work.consent)
    if (object.type === 'stats') {
      const kind = name === 'purchase_count' ? 'purchases' : 'orders'
      return this.#through(kind, this.#sizes[kind], node, () => this.#spend(work.bareElement))
    }
    if (object.type === 'edition') return this.#spend(work.edition)
    if (name === 'metadata') return this.#spend(work.metadata)
    if (name === 'product_name') this.#spend(work.lookUp)
  }

  #call({ name, args }: ExpressionOf<'call'>): void {
    const [first] = args
    if (name === 'size' && first && (isList(first.type) || first.type === 'json'))
      return this.#inside(first, first, () => undefined, work.bareElement)
    for (const arg of args) this.value(arg)
    const isText = textCalls.includes(name) || name === 'size'
    this.#spend(isText ? work.text : work.conversion)
  }

  #in(node: ExpressionOf<'in'>): void {
    const { element, list } = node
    this.value(element)
    if (list.node === 'list' && element.type !== 'json') return this.#spend(work.text)
    this.#inside(list, node, () => {
      // The searched value is computed again for each element.
      this.value(element)
      this.#spend(work.value)
    })
  }

  #body({ range, variable, predicate, result }: ExpressionOf<'macro'>): void {
    this.#with({ name: variable, metadata: this.#metadataOf(range), map: mapIn(range) }, () => {
      if (predicate) this.value(predicate)
      // A mapped value is computed twice: for itself, and to test whether it is an error.
      if (result) for (const again of [result, result]) this.value(again)
    })
  }

  #eachOf({ macro }: ExpressionOf<'macro'>): number {
    return macro === 'exists_one' ? 2 * work.element : work.element
  }

  #with(element: ElementVariable, inside: () => void): void {
    const before = this.#elements
    this.#elements = [...before, element]
    inside()
    this.#elements = before
  }

  /** The work for each element of a list, with the filters and maps of the list. */
  #inside(list: Expression, node: Expression, body: () => void, each: number = work.element): void {
    if (list.node === 'macro')
      return this.#inside(
        list.range,
        node,
        () => {
          this.#body(list)
          body()
        },
        each,
      )
    const [kind, size] = this.#lengthOf(list)
    this.#through(kind, size, node, () => {
      this.#spend(list.type === 'json' ? work.entry : each)
      body()
    })
  }

  #through(kind: ListRead['kind'], size: number, node: Expression, body: () => void): void {
    const [lists, site] = [this.#lists, this.#site]
    this.#lists = [...lists, { kind, size }]
    this.#site = { lists: this.#lists, node, work: 0 }
    this.sites.push(this.#site)
    body()
    this.#lists = lists
    this.#site = site
  }

  #lengthOf(list: Expression): [ListRead['kind'], number] {
    if (list.node === 'list') return ['written', list.items.length]
    const kind = this.#kindOf(list)
    return [kind, this.#sizes[kind]]
  }

  #kindOf(list: Expression): KeptList {
    if (list.type === 'json') return this.#metadataOf(list)
    if (list.node === 'variable') return list.name === 'orders' ? 'orders' : 'purchases'
    return list.node === 'field' && list.object.type === 'campaigns' ? 'campaigns' : 'options'
  }

  #metadataOf(node: Expression): KeptList {
    if (node.node === 'member') return this.#metadataOf(node.object)
    if (node.node === 'macro') return this.#metadataOf(node.range)
    if (node.node === 'variable') return this.#elementNamed(node.name)?.metadata ?? 'user_metadata'
    return node.node === 'field' && node.object.type === 'order' ? 'order_metadata' : 'user_metadata'
  }
}

/** The `map` that makes the elements of a list, also where a filter comes after it. */
function mapIn(list: Expression): MacroExpression | null {
  if (list.node !== 'macro') return null
  return list.result ? list : mapIn(list.range)
}

/** The work for one person, from the outside in. */
export const sitesOf = (expression: Expression, sizes: ListSizes): readonly Site[] =>
  new Survey(sizes, expression).sites
