import { type Encoding, encodeText } from '@ecms/table-reader'
import { describe, expect, it } from 'vitest'
import { get, patch } from '../../support/api.ts'
import { pathOf, process, work } from '../../support/data-imports.ts'
import { startImport, summariseOrders } from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop } from '../../support/seeding/sales/orders.ts'

const buildFile = (names: readonly string[], encoding: Encoding): Uint8Array<ArrayBuffer> =>
  encodeText(
    [
      'Order ID,Name,E-mail,Product,Quantity,Price,Order date',
      ...names.map((name, at) => `A-${at},${name},p${at}@example.test,Day ticket,1,100.50,2026-01-05`),
      '',
    ].join('\r\n'),
    encoding,
  )

const readFormat = async (id: string) => (await get(pathOf(id))).body.file_format

/** Each name has letters that no earlier encoding of the list has at the same bytes. */
const namesByEncoding: Partial<Record<Encoding, string>> = {
  'windows-1251': 'Іван Їжак',
  'windows-1253': 'Γιώργος Ξενάκης',
  'windows-1254': 'Ayşe Yılmaz',
  'windows-1255': 'שרה לוי',
  'windows-1256': 'محمد علي',
  'windows-1258': 'Đăng Cương',
  'windows-874': 'สมชาย ใจดี',
  'iso-8859-3': 'Ĝorĝo Ĥoro',
  'iso-8859-4': 'Jānis Ķēniņš',
  'iso-8859-5': 'Сергей Жуков',
  'iso-8859-6': 'محمد حسن',
  'iso-8859-7': 'Μαρία Αντωνίου',
  'iso-8859-8': 'משה פרץ',
  'iso-8859-8-i': 'משה פרץ',
  'iso-8859-10': 'Þórður Ģirts',
  'iso-8859-13': 'Žydrūnas Šimkus',
  'iso-8859-14': 'Ŵyn Ŷnys',
  'iso-8859-16': 'Ștefan Țurcan',
  'koi8-r': 'Юрий Щербаков',
  'koi8-u': 'Євген Їжак',
  'x-mac-cyrillic': 'Дмитрий Соколов',
  ibm866: 'Екатерина Морозова',
  shift_jis: '山田太郎 スズキ',
  'euc-jp': '高橋さくら',
  'iso-2022-jp': '渡辺直美',
  gbk: '欧阳修 刘洋',
  gb18030: '赵丽颖',
  big5: '陳美玲',
  'euc-kr': '최민수',
}

describe('the encoding of an imported file', () => {
  it.each(Object.entries(namesByEncoding))('can be chosen: %s', async (encoding, name) => {
    const shop = await seedShop()
    const bytes = buildFile([name], encoding as Encoding)
    const { id } = await givenImport(shop, bytes, { options: { encoding } })
    expect(await readFormat(id)).toMatchObject({ encoding, warnings: [] })
    await process(id)
    await startImport(id)
    expect(await summariseOrders(shop)).toMatchObject([{ customer: `${name} <p0@example.test>` }])
  })

  it.each<[Encoding, string]>([
    ['windows-1251', 'Іван Шевченко|Наталія Їжак'],
    ['windows-1253', 'Γιώργος Παπαδόπουλος|Ελένη Γεωργίου'],
    ['windows-1254', 'Ayşe Öztürk|Işık Aydın'],
    ['windows-1255', 'משה פרץ|רחל אברהם'],
    ['windows-1256', 'محمد علي|أحمد إبراهيم'],
    ['windows-1257', 'Jūratė Žukauskienė|Rūta Čepaitė'],
    ['koi8-r', 'Дмитрий Соколов|Екатерина Морозова'],
    ['shift_jis', '山田太郎|スズキ ハナコ'],
    ['gbk', '王小明|赵丽颖'],
  ])('is recognized by two names: %s', async (encoding, names) => {
    const shop = await seedShop()
    const { id } = await givenImport(shop, buildFile(names.split('|'), encoding))
    await process(id)
    await startImport(id)
    const orders = (await summariseOrders(shop)) as { customer: string }[]
    expect(orders.map(({ customer }) => customer.split(' <')[0])).toEqual(names.split('|'))
  })

  it('is doubtful when another one is nearly as likely, until you choose one', async () => {
    const shop = await seedShop()
    const names = ['Zoltán Tóth', 'Gergő Balázs', 'Ágnes Nagy', 'László Kovács']
    const bytes = buildFile(names, 'windows-1250')
    const { id } = await givenImport(shop, bytes)
    const { warnings, encoding } = await readFormat(id)
    const read = new TextDecoder(encoding)
      .decode(bytes)
      .split('\r\n')
      .slice(1, 4)
      .map((line) => line.split(',')[1])
    expect(warnings).toEqual([
      {
        code: 'doubtful_encoding',
        message:
          `The encoding ${encoding} is a guess, and another one is nearly as likely. The file is read as: ` +
          `${read.map((name) => `"${name}"`).join(', ')}. If these texts are wrong, set the option encoding.`,
      },
    ])
    expect((await patch(pathOf(id), { options: { encoding: 'windows-1250' } })).status).toBe(200)
    await work(id)
    expect(await readFormat(id)).toMatchObject({ encoding: 'windows-1250', warnings: [] })
  })

  it('is certain for usual Danish and German names', async () => {
    const shop = await seedShop()
    const names = ['Søren Kjærgård', 'Åse Ørsted', 'Jürgen Groß', 'Käthe Müller']
    for (const encoding of ['windows-1252', 'utf-8', 'macintosh'] as const) {
      const { id } = await givenImport(shop, buildFile(names, encoding))
      expect(await readFormat(id)).toMatchObject({ encoding, warnings: [] })
    }
  })
})
