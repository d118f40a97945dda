/** Values for random expressions. Some occur in the data, and some are difficult. */
const ids = [
  'prd_one_0',
  'prd_one_1',
  'prd_two_0',
  'var_one_0',
  'loc_one_1',
  'edt_one_1',
  'edt_one_2',
  'cmp_one_0',
  'cmp_one_1',
  'https://example.dk/a',
]
const words = [
  'a',
  'A',
  '',
  'gir',
  'Ægir',
  "O'Brien",
  '%',
  '_',
  '😀',
  'ÅB',
  'da',
  'sv',
  'gold',
  '5',
  'example.dk',
  '+45',
  'x"y',
  'a\\b',
]
const statuses = [
  'pending',
  'completed',
  'confirmed',
  'cancelled',
  'active',
  'used',
  'given',
  'withdrawn',
  'DKK',
  'online',
  'sent',
  'failed',
  'rejected',
]
const keys = ['tier', 'level', 'tags', 'a']
const oddKeys = ['k.dot', 'k"quote', 'k$', 'k\\', 'é', "k'", '0', ' ', 'tier', 'b']
const textFields = [
  'user.id',
  'user.email',
  'user.phone_number',
  'user.first_name',
  'user.last_name',
  'user.locale',
  'edition.id',
  'consents.newsletter.status',
  'consents["sms-marketing"].status',
]
const times = [
  'user.date_joined',
  'user.last_seen',
  'stats.first_order_at',
  'stats.last_order_at',
  'edition.start_date',
  'edition.end_date',
  'consents.newsletter.given_at',
  'consents.newsletter.expires_at',
  'consents.photo.expires_at',
]
const instants = [
  'now',
  'timestamp("2025-01-01T00:00:00Z")',
  'timestamp("2026-05-31T23:30:00.001-02:00")',
  'timestamp("9999-12-31T23:59:59Z")',
]
const durations = [
  'duration("720h")',
  'duration("-1h30m")',
  'duration("1.5s")',
  'duration("0s")',
  'duration("2000000h")',
]
const zones = [
  '"Europe/Copenhagen"',
  '"America/St_Johns"',
  '"Australia/Lord_Howe"',
  '"Pacific/Kiritimati"',
  '"+05:45"',
  '"UTC"',
  'edition.timezone',
  'edition.timezone',
]
/** Times at which clocks change, and times beside midnight. */
const changes = [
  'timestamp("2026-03-29T00:59:59.999Z")',
  'timestamp("2026-03-29T01:00:00Z")',
  'timestamp("2025-10-26T01:00:00Z")',
  'timestamp("2025-12-31T23:30:00Z")',
  'timestamp("2012-06-30T22:00:00Z")',
]
const parts = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
]

type SimpleType = 'bool' | 'int' | 'double' | 'string' | 'timestamp' | 'duration'
type ElementObject = 'order' | 'purchase' | 'use' | 'message'
type Element = SimpleType | ElementObject | 'json'

const nullableFields: Record<ElementObject, readonly string[]> = {
  order: ['status'],
  purchase: ['variant_id', 'location_id'],
  use: ['location_id'],
  message: ['reason', 'opened_at', 'clicked_at', 'bounced_at', 'state'],
}
const stringFields: Record<ElementObject, readonly string[]> = {
  order: ['id', 'status', 'type', 'currency', 'edition_id'],
  purchase: ['product_id', 'product_name', 'variant_id', 'status', 'edition_id'],
  use: ['location_id'],
  message: ['campaign_id', 'state', 'reason'],
}
const intFields: Record<ElementObject, readonly string[]> = {
  order: ['amount_minor'],
  purchase: ['price_paid_minor', 'available_uses'],
  use: ['quantity'],
  message: [],
}
const timestampFields: Record<ElementObject, readonly string[]> = {
  order: ['created'],
  purchase: ['created'],
  use: ['used_at'],
  message: ['sent_at', 'delivered_at', 'opened_at', 'clicked_at', 'complained_at', 'unsubscribed_at'],
}
const stringLists: Partial<Record<Element, string>> = { purchase: 'option_ids', message: 'clicked_links' }

interface Scope {
  depth: number
  macros: number
  variables: { name: string; type: Element }[]
}

/** Makes random expressions that the checker accepts, by their type. */
export class Expressions {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  condition(depth: number): string {
    return this.#bool({ depth, macros: 0, variables: [] })
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T
  }

  #one(makers: readonly (() => string)[]): string {
    return this.#pick(makers)()
  }

  #text = (): string => JSON.stringify(this.#pick([...ids, ...words, ...statuses]))
  #variables(scope: Scope, type: Element): string[] {
    return scope.variables.filter((variable) => variable.type === type).map(({ name }) => name)
  }

  /** Uses fields of the variables of surrounding macros, or `otherwise`. */
  #field(scope: Scope, fields: Partial<Record<Element, readonly string[]>>, otherwise: readonly string[]): string {
    const ownFields = scope.variables.flatMap(({ name, type }) =>
      (fields[type] ?? []).map((field) => `${name}.${field}`),
    )
    return ownFields.length && this.#random() < 0.7 ? this.#pick(ownFields) : this.#pick(otherwise)
  }

  #json(scope: Scope): string {
    const roots = ['user.metadata', ...this.#variables(scope, 'order').map((name) => `${name}.metadata`)]
    const elements = this.#variables(scope, 'json')
    if (elements.length && this.#random() < 0.6) return this.#pick(elements)
    const root = this.#pick(roots)
    return this.#one([
      () => `${root}.${this.#pick(keys)}`,
      () => `${root}.${this.#pick(keys)}`,
      () => `${root}[${JSON.stringify(this.#pick(oddKeys))}]`,
      () => `${root}.${this.#pick(keys)}.b`,
    ])
  }

  #bool(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const bool = () => this.#bool(next)
    const leaves = [
      () => this.#pick(['true', 'false', 'user.is_verified', 'user.is_active', 'user.has_email', 'user.has_phone']),
      () =>
        this.#pick([
          'consents.newsletter.is_current',
          'consents["sms-marketing"].is_current',
          'consents.photo.is_current',
        ]),
      () => this.#pick(['has(consents.newsletter)', '"photo" in consents', 'has(consents.nothing)']),
      () => `has(user.metadata.${this.#pick(keys)})`,
      () => `has(user.metadata.${this.#pick(keys)}.b)`,
      () => `${JSON.stringify(this.#pick(oddKeys))} in user.metadata`,
      () => `${this.#nullable(next)} ${this.#pick(['==', '!='])} null`,
      () => `${this.#string(next)} == ${this.#text()}`,
      () =>
        `${this.#json(next)} ${this.#pick(['==', '!='])} ${this.#pick([this.#text(), '5', '2.5', 'true', 'null', '"gold"'])}`,
      ...this.#variables(scope, 'bool').map((name) => () => name),
    ]
    if (scope.depth <= 0) return `(${this.#one(leaves)})`
    const equality = () => this.#pick(['==', '!='])
    const order = () => this.#pick(['<', '<=', '>', '>=', '==', '!='])
    const pair = (make: () => string) => `${make()} ${order()} ${make()}`
    const compare = () =>
      this.#one([
        () => pair(() => this.#int(next)),
        () => pair(() => this.#double(next)),
        () => `${this.#int(next)} ${order()} ${this.#double(next)}`,
        () => pair(() => this.#string(next)),
        () => pair(() => this.#timestamp(next)),
        () => pair(() => this.#duration(next)),
        () => `${this.#bool(next)} ${order()} ${this.#bool(next)}`,
        () => `${this.#json(next)} ${order()} ${this.#pick([this.#int(next), this.#double(next), this.#string(next)])}`,
        () =>
          `${this.#pick([this.#string(next), this.#timestamp(next), this.#bool(next)])} ${equality()} ${this.#json(next)}`,
        () => `${this.#nullable(next)} ${equality()} ${this.#nullable(next)}`,
        () => `${this.#json(next)} ${equality()} ${this.#nullable(next)}`,
      ])
    const chain = () =>
      Array.from({ length: 2 + Math.floor(this.#random() * 3) }, () => `(${bool()})`).join(this.#pick([' && ', ' || ']))
    const text = () => {
      const whole = this.#string(next)
      const call = this.#pick(['contains', 'startsWith', 'endsWith'])
      const part = this.#random() < 0.7 ? this.#text() : this.#string(next)
      // A text that is compared with an address is converted to the form of addresses, which the reference does not know.
      const isNormalized = part.startsWith('"') && whole.includes('user.email')
      return `(${whole}).${call}(${isNormalized ? part.toLowerCase() : part})`
    }
    const membership = () =>
      this.#one([
        () => `${this.#string(next)} in [${this.#text()}, ${this.#text()}, "da"]`,
        () => `${this.#int(next)} in [0, 1, 2, 25000]`,
        () => `${this.#double(next)} in [1, 2]`,
        () => `${this.#json(next)} in [${this.#pick(['"gold", "a"', '1, 5', '2.5, 1.0', 'true'])}]`,
        () => `${this.#pick([this.#string(next), this.#int(next)])} in ${this.#json(next)}`,
        () => `${this.#string(next)} in ${this.#strings(next)}`,
      ])
    const macros = [() => this.#macro(next), () => this.#macro(next), () => this.#macro(next)]
    return this.#one(
      [
        chain,
        chain,
        chain,
        compare,
        compare,
        compare,
        text,
        membership,
        membership,
        () => `!(${bool()})`,
        () => `!(${bool()})`,
        () => `((${bool()}) ? (${bool()}) : (${bool()}))`,
        () => `(${this.#json(next)} && (${bool()}))`,
        () => `bool(${this.#one([() => this.#text(), () => `string(${bool()})`])})`,
        ...macros,
        this.#pick(leaves),
      ].map((maker) => () => `(${maker()})`),
    )
  }

  #macro(scope: Scope): string {
    if (scope.macros >= 2) return 'user.is_active'
    const name = `x${scope.macros}`
    const [list, type] = this.#list(scope, name)
    const inside = { depth: scope.depth - 1, macros: scope.macros + 1, variables: [...scope.variables, { name, type }] }
    const predicate = this.#bool(inside)
    return this.#one([
      () => `${list}.${this.#pick(['exists', 'exists', 'all', 'exists_one'])}(${name}, ${predicate})`,
      () => `${list}.${this.#pick(['exists', 'exists', 'all', 'exists_one'])}(${name}, ${predicate})`,
      () => `size(${list}.filter(${name}, ${predicate})) ${this.#pick(['>', '==', '<='])} ${this.#pick([0, 1, 2])}`,
    ])
  }

  #list(scope: Scope, name: string): [list: string, type: Element] {
    const enterMacro = (type: Element): Scope => ({
      depth: scope.depth - 1,
      macros: scope.macros + 1,
      variables: [...scope.variables, { name, type }],
    })
    const plain: (() => [string, Element])[] = [
      () => ['orders', 'order'],
      () => ['orders', 'order'],
      () => ['purchases', 'purchase'],
      () => ['purchases', 'purchase'],
      () => [this.#pick(['campaigns.received', 'campaigns.opened', 'campaigns.clicked']), 'string'],
      () => [this.#json(scope), 'json'],
      () => ['[1, 2, 3]', 'int'],
      () => ['["a", "da", "gold"]', 'string'],
      () => ['[0.5, 1.0]', 'double'],
      () => ['campaigns.messages', 'message'],
      () => ['campaigns.messages', 'message'],
      ...this.#variables(scope, 'purchase').flatMap((purchase) =>
        Array.from({ length: 3 }, () => (): [string, Element] => [`${purchase}.uses`, 'use']),
      ),
      ...this.#stringLists(scope).map((list) => (): [string, Element] => [list, 'string']),
    ]
    const [list, type] = this.#pick(plain)()
    if (scope.depth <= 0 || this.#random() < 0.7) return [list, type]
    if (this.#random() < 0.5) return [`${list}.filter(${name}, ${this.#bool(enterMacro(type))})`, type]
    const simpleType: SimpleType = this.#pick(['string', 'int', 'bool', 'timestamp'])
    const maker = {
      string: () => this.#string(enterMacro(type)),
      int: () => this.#int(enterMacro(type)),
      bool: () => this.#bool(enterMacro(type)),
    }
    const body = simpleType === 'timestamp' ? this.#timestamp(enterMacro(type)) : maker[simpleType]()
    return this.#random() < 0.3
      ? [`${list}.map(${name}, ${this.#bool(enterMacro(type))}, ${body})`, simpleType]
      : [`${list}.map(${name}, ${body})`, simpleType]
  }

  #stringLists(scope: Scope): string[] {
    return scope.variables.flatMap(({ name, type }) => (stringLists[type] ? [`${name}.${stringLists[type]}`] : []))
  }

  #strings(scope: Scope): string {
    const options = this.#stringLists(scope)
    return this.#one([
      () => this.#pick(['campaigns.received', 'campaigns.opened', 'campaigns.clicked', ...options]),
      () =>
        scope.macros < 2
          ? `purchases.map(y${scope.macros}, y${scope.macros}.${this.#pick(['product_id', 'variant_id'])})`
          : '["a"]',
    ])
  }

  #nullable(scope: Scope): string {
    const texts = [
      'user.email',
      'user.phone_number',
      '(user.has_email ? user.email : null)',
      '(user.is_active ? null : user.locale)',
    ]
    return this.#field(scope, nullableFields, texts)
  }

  #string(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const leaves = [
      () => this.#text(),
      () => this.#field(scope, stringFields, textFields),
      ...this.#variables(scope, 'string').map((name) => () => name),
    ]
    if (scope.depth <= 0) return this.#one(leaves)
    return this.#one([
      ...leaves,
      ...leaves,
      () => `(${this.#string(next)} + ${this.#string(next)})`,
      () => `(${this.#string(next)}).${this.#pick(['lowerAscii', 'upperAscii'])}()`,
      () => `string(${this.#int(next)})`,
      () => `((${this.#bool(next)}) ? ${this.#string(next)} : ${this.#pick(['null', this.#string(next)])})`,
      () => `(${this.#json(next)} + "x")`,
    ])
  }

  #int(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const leaves = [
      () => this.#pick(['0', '1', '2', '-1', '7', '25000', '9223372036854775807', '-9223372036854775808']),
      () =>
        this.#field(scope, intFields, [
          'stats.order_count',
          'stats.total_spent_minor',
          'stats.purchase_count',
          'size(orders)',
          'size(purchases)',
        ]),
      ...this.#variables(scope, 'int').map((name) => () => name),
    ]
    if (scope.depth <= 0) return this.#one(leaves)
    return this.#one([
      ...leaves,
      ...leaves,
      () => `(${this.#int(next)} ${this.#pick(['+', '-', '*', '/', '%'])} ${this.#int(next)})`,
      () => `-(${this.#int(next)})`,
      () => `size(${this.#string(next)})`,
      () => `size(${this.#json(next)})`,
      () =>
        `int(${this.#pick([this.#double(next), '"-07"', '"5x"', '"+0"', '"9223372036854775808"', this.#timestamp(next), this.#json(next)])})`,
      () => `((${this.#bool(next)}) ? ${this.#int(next)} : ${this.#int(next)})`,
      () => `(${this.#timestamp(next)}).${this.#pick(parts)}()`,
      () => `(${this.#nearTime(scope)}).${this.#pick(parts)}(${this.#pick(zones)})`,
      () => `(${this.#nearTime(scope)}).getDayOfEdition()`,
      () => `(${this.#duration(next)}).${this.#pick(['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'])}()`,
    ])
  }

  #double(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const leaves = [
      () => this.#pick(['0.0', '0.5', '1.0', '-2.5', '1e15', '3.0000000000000004']),
      ...this.#variables(scope, 'double').map((name) => () => name),
    ]
    if (scope.depth <= 0) return this.#one(leaves)
    return this.#one([
      ...leaves,
      () => `double(${this.#int(next)})`,
      () => `(${this.#double(next)} ${this.#pick(['+', '-', '*'])} ${this.#double(next)})`,
      () => `(${this.#double(next)} / ${this.#pick(['2.0', '0.1', '-3.0'])})`,
      () => `(${this.#json(next)} * 2.0)`,
      () => `-(${this.#double(next)})`,
    ])
  }

  #timestamp(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const leaves = [
      () => this.#pick(instants),
      () => this.#field(scope, timestampFields, times),
      ...this.#variables(scope, 'timestamp').map((name) => () => name),
    ]
    if (scope.depth <= 0) return this.#one(leaves)
    return this.#one([
      ...leaves,
      ...leaves,
      () => `(${this.#timestamp(next)} ${this.#pick(['+', '-'])} ${this.#duration(next)})`,
      () => `timestamp(${this.#int(next)})`,
      () => `((${this.#bool(next)}) ? ${this.#timestamp(next)} : ${this.#timestamp(next)})`,
    ])
  }

  /** A time whose offset in any zone is exact. */
  #nearTime = (scope: Scope): string => this.#field(scope, timestampFields, [...times, ...changes, 'now'])

  #duration(scope: Scope): string {
    const next = { ...scope, depth: scope.depth - 1 }
    const leaf = () => this.#pick(durations)
    if (scope.depth <= 0) return leaf()
    return this.#one([
      leaf,
      leaf,
      () => `(${this.#timestamp(next)} - ${this.#timestamp(next)})`,
      () => `(${this.#duration(next)} ${this.#pick(['+', '-'])} ${this.#duration(next)})`,
    ])
  }
}
