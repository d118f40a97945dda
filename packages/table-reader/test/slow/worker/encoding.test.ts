import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectEncoding } from '../../../src/encoding/detect.ts'
import { canEncode } from '../../../src/encoding/encode.ts'
import { createDecoder } from '../../../src/encoding/names.ts'
import { type Encoding, encodeText, encodings, getByteOrderMark, openBytes, undecodable } from '../../../src/index.ts'
import { inspectAndRead } from '../../support/read.ts'

const words = {
  danish: 'Søren Kjærgård|Åse Ørsted|Bjørn Æbelø|Købt|Beløb|Børn|Række|Århus|Sønderborg|Helsingør|Jørgensen|Måned',
  german: 'Jürgen Groß|Käthe Müller|Straße|Österreich|Frühbucher|Köln|Düsseldorf|Übersicht|Größe|Ermäßigt|Jäger',
  swedish: 'Åsa Öberg|Jörgen Ängström|Göteborg|Malmö|Ståplats|Läktare|Umeå|Sjöberg|Växjö|Årskort|Köp',
  dutch: 'Zoë|Renée|Daniël|Coördinatie|Ingeschreven vóór|Café|Geïnteresseerd|Financiën|Één|Financiële',
  polish: 'Łukasz Wójcik|Małgorzata Żółć|Wejściówka|Kraków|Łódź|Gdańsk|Święta|Zamówienie|Imię|Bydgoszcz Główna|Ślązak',
  english: 'Café|Zoë|£12.50|Brontë|naïve|“Early bird”|Ann’s|résumé|Chloë – VIP',
  czech: 'Jiří Dvořák|Růžena Nováčková|Tomáš Černý|Václav Šťastný|Žaneta Říhová|Lucie Kučerová|Děčín|Příbram',
  spanish: 'José Muñoz|María Núñez|Begoña Ibáñez|Íñigo López|Concepción García|Málaga',
  russian: 'Иван Петров|Сергей Иванов|Анна Кузнецова|Москва|Дмитрий Соколов|Екатерина Морозова|Юрий Щербаков',
  ukrainian: 'Іван Шевченко|Олена Коваленко|Андрій Бондар|Київ|Юлія Ткаченко|Львів|Наталія Їжак|Євген Кравець',
  greek: 'Γιώργος Παπαδόπουλος|Μαρία Αντωνίου|Δημήτρης Νικολάου|Αθήνα|Ελένη Γεωργίου|Θεσσαλονίκη',
  turkish: 'İbrahim Yılmaz|Ayşe Öztürk|Çağlar Şahin|Gülşen Doğan|Işık Aydın|Müge Güneş|Eskişehir|Beyoğlu',
  hebrew: 'דוד כהן|שרה לוי|משה פרץ|רחל אברהם|יוסף מזרחי|ירושלים|חיים שלום',
  arabic: 'محمد علي|فاطمة حسن|أحمد إبراهيم|القاهرة|خالد محمود|مريم يوسف|الرياض|عبد الله',
  lithuanian: 'Žydrūnas Šimkus|Agnė Kazlauskaitė|Rūta Čepaitė|Ąžuolas|Jūratė Žukauskienė|Šarūnas',
  latvian: 'Jānis Bērziņš|Līga Ozoliņa|Kārlis Kalniņš|Rīga|Inese Krūmiņa|Ģirts Ķēniņš|Valdis Zariņš',
  thai: 'สมชาย ใจดี|สมหญิง รักไทย|กรุงเทพ|ประเสริฐ แก้วมณี|เชียงใหม่|วิชัย ศรีสุข',
  japanese: '山田太郎|鈴木花子|佐藤健|東京都|タナカ イチロウ|大阪府|高橋さくら|スズキ ハナコ|チケット',
  chinese: '王小明|张伟|北京市|刘洋|陈静|上海市|赵丽颖|门票|欧阳修',
  traditional: '王小明|陳美玲|張偉|臺北市|林志玲|黃建國|票種|劉德華',
  korean: '김철수|이영희|박지성|서울시|최민수|정수빈|홍길동',
} as const

type Language = keyof typeof words

const written: Record<Language, Encoding[]> = {
  danish: ['windows-1252', 'iso-8859-15', 'macintosh', 'cp850', 'utf-8', 'utf-16le', 'utf-16be'],
  german: ['windows-1252', 'windows-1250', 'iso-8859-2', 'macintosh', 'cp850', 'cp437', 'utf-8', 'utf-16le'],
  swedish: ['windows-1252', 'iso-8859-15', 'macintosh', 'cp850', 'cp437', 'utf-8'],
  dutch: ['windows-1252', 'macintosh', 'cp850', 'utf-8'],
  polish: ['windows-1250', 'iso-8859-2', 'utf-8', 'utf-16le', 'utf-16be'],
  english: ['windows-1252', 'macintosh', 'utf-8'],
  czech: ['windows-1250', 'utf-8'],
  spanish: ['windows-1252', 'utf-8'],
  russian: ['windows-1251', 'koi8-r', 'ibm866', 'x-mac-cyrillic', 'iso-8859-5', 'utf-8'],
  ukrainian: ['windows-1251', 'koi8-u', 'x-mac-cyrillic', 'utf-8'],
  greek: ['windows-1253', 'iso-8859-7', 'utf-8'],
  turkish: ['windows-1254', 'utf-8'],
  hebrew: ['windows-1255', 'utf-8'],
  arabic: ['windows-1256', 'iso-8859-6', 'utf-8'],
  lithuanian: ['windows-1257', 'utf-8'],
  latvian: ['windows-1257', 'utf-8'],
  thai: ['windows-874', 'utf-8'],
  japanese: ['shift_jis', 'euc-jp', 'iso-2022-jp', 'utf-8'],
  chinese: ['gbk', 'utf-8'],
  traditional: ['big5', 'utf-8'],
  korean: ['euc-kr', 'utf-8'],
}

const cases = Object.entries(written).flatMap(([language, all]) =>
  all.map((encoding): [Language, Encoding] => [language as Language, encoding]),
)

describe('the encoding of a file', () => {
  it.each(cases)(
    'is detected for %s text in %s, so that the text is read as it was written',
    async (language, encoding) => {
      const parts = words[language].split('|').filter((word) => canEncode(word, encoding))
      const lines = fc.array(fc.subarray(parts, { minLength: 2, maxLength: 4 }), { minLength: 4, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(lines, fc.integer({ min: 1, max: 30 }), async (rows, chunkLength) => {
          const text = `id;name;place\r\n${rows.map((row, index) => `${index};${row.join(';')}`).join('\r\n')}`
          const bytes = encodeText(text, encoding)
          const detected = await detectEncoding(openBytes(bytes, chunkLength))
          expect(createDecoder(detected.encoding).decode(bytes)).toBe(text)
        }),
        { numRuns: 40 },
      )
    },
  )

  it.each([
    ['cp850', 'Søren|Åse|Lærke|ÅSE|Jürgen|Übel|MÜLLER|Björn|Åsa|Hélène|François|Benoît|Zoë|Daniël'],
    ['cp437', 'Åse|Lærke|Jürgen|Übel|Åsa|Göran|Linnéa|Hélène|François|Benoît|Joëlle'],
    ['macintosh', 'Søren|Bjørn|Åse|Lærke|SØREN|MÜLLER|Jürgen|Groß|Märta|Hélène|Noël|Chloë'],
    ['windows-1252', 'Søren|Åse|SØREN|Groß|STRAßE|Öberg|Hélène|François|Èva|Zoë|O’Brien'],
    ['windows-1250', 'Łukasz|Paweł|Żaneta|Świątek|Jędrzej|Ćwikła|RÓŻA|MĘŻCZYZNA|JÓŹWIAK|Jürgen'],
    ['windows-1257', 'Søren|Bjørn|Małgorzata|Żaneta|Świątek|Zażółć'],
    ['iso-8859-2', 'Łukasz|Paweł|Świątek|Źródło|Käthe'],
    ['utf-8', 'Søren|Łukasz|Zoë|Əliyev|Иван|A席|iPhone手'],
  ] as const)('is detected by one name in %s: %s', async (encoding, names) => {
    for (const name of names.split('|')) {
      const bytes = encodeText(`id;name;total\n1;Ann;5\n2;${name};6\n`, encoding)
      const { format, rows } = await inspectAndRead(openBytes(bytes))
      expect([format.kind === 'csv' && format.encoding, rows[1]?.cells[1]]).toEqual([expect.anything(), name])
    }
  })

  it('is that of the text behind a byte order mark of UTF-8', async () => {
    const bytes = Uint8Array.from([...getByteOrderMark('utf-8'), ...encodeText('"id";name\n1;Søren\n', 'windows-1252')])
    const expected = { encoding: 'windows-1252', names: ['id', 'name'] }
    expect((await inspectAndRead(openBytes(bytes))).format).toMatchObject(expected)
    expect((await inspectAndRead(openBytes(bytes), { encoding: 'windows-1252' })).format).toMatchObject(expected)
  })

  it('is refused if it makes NUL characters of the text', async () => {
    const file = openBytes(encodeText('\ufeffid,name\n1,Ann\n', 'utf-16le'))
    await expect(inspectAndRead(file, { encoding: 'utf-8' })).rejects.toThrow(
      /not text in utf-8: it contains NUL characters/,
    )
  })

  it('has a lower confidence when letters are few', async () => {
    const certain = await detectEncoding(openBytes(encodeText(words.polish.repeat(20), 'windows-1250')))
    const uncertain = await detectEncoding(openBytes(Uint8Array.from([0x61, 0xe6, 0x62, 0x0a])))
    expect(certain).toMatchObject({ encoding: 'windows-1250' })
    expect(certain.confidence).toBeGreaterThan(0.6)
    expect(uncertain.confidence).toBeLessThan(certain.confidence)
  })

  it('is the likely one of the owner when the letters do not decide', async () => {
    const file = openBytes(encodeText('name\nSędzia æ'.replace('ę', ''), 'windows-1252'))
    expect((await detectEncoding(file)).encoding).toBe('windows-1252')
    expect((await detectEncoding(file, ['windows-1250'])).encoding).toBe('windows-1250')
  })

  it('is UTF-8 for plain ASCII, even if the first other letter comes late', async () => {
    const late = (letter: Uint8Array) =>
      new Uint8Array([...encodeText('id;name\n1;Ann\n'.repeat(20_000), 'utf-8'), ...letter])
    expect(await detectEncoding(openBytes(late(new Uint8Array())))).toMatchObject({
      encoding: 'utf-8',
      confidence: 1,
    })
    expect(await detectEncoding(openBytes(late(encodeText('Søren', 'utf-8'))))).toMatchObject({ encoding: 'utf-8' })
    expect(await detectEncoding(openBytes(late(encodeText('Søren Kjærgård', 'windows-1252'))))).toMatchObject({
      encoding: 'windows-1252',
    })
  })
})

describe('a text that is encoded', () => {
  it('is read as it was written when the encoding has its characters', () => {
    fc.assert(
      fc.property(fc.constantFrom(...encodings), fc.string({ unit: 'grapheme' }), (encoding, text) => {
        const possible = Array.from(text)
          .filter((letter) => canEncode(letter, encoding))
          .join('')
        expect(createDecoder(encoding).decode(encodeText(possible, encoding))).toBe(possible)
      }),
    )
  })

  it('loses accents before letters when the encoding lacks them', () => {
    expect(createDecoder('windows-1252').decode(encodeText('Łódź ćma 日 ﬁ', 'windows-1252'))).toBe('?ódz cma ? fi')
  })
})

describe('bytes that are no character', () => {
  const readRows = async (bytes: Uint8Array, options: { encoding?: Encoding } = {}) => {
    const { format, rows } = await inspectAndRead(openBytes(bytes), options)
    return { encoding: format.kind === 'csv' ? format.encoding : null, cells: rows.map(({ cells }) => cells) }
  }
  const join = (...parts: (string | number[])[]) =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...encodeText(part, 'utf-8')] : part)))

  it('do not change other rows of a file in UTF-8, however few these are', async () => {
    const bytes = join('id;name\n1;Søren Kjær\n2;J', [0xf8], 'rgen\n3;Åse\n')
    expect(await readRows(bytes)).toEqual({
      encoding: 'utf-8',
      cells: [
        ['1', 'Søren Kjær'],
        ['2', `J${undecodable}rgen`],
        ['3', 'Åse'],
      ],
    })
  })

  it('do not change the encoding of the other rows, however many they are', async () => {
    const one = [`1`, 'Søren']
    expect(await readRows(join('id;name\n1;Søren\n2;Bj', [0xf8], 'rn\n3;L', [0xe6], 'rke\n'))).toEqual({
      encoding: 'utf-8',
      cells: [one, ['2', `Bj${undecodable}rn`], ['3', `L${undecodable}rke`]],
    })
    expect(await readRows(join('id;name\n1;S', [0xf8], 'ren\n2;B', [0x8d], 'o\n3;', [0x9d], '\n'))).toEqual({
      encoding: 'windows-1252',
      cells: [one, ['2', `B${undecodable}o`], ['3', undecodable]],
    })
  })

  it('are told apart from a U+FFFD that is part of the text', async () => {
    const text = 'id;name\n1;S\ufffdren\n2;\ufffd\ufffd\n3;Ann\n'
    expect((await readRows(encodeText(text, 'utf-8'))).cells[0]).toEqual(['1', 'S\ufffdren'])
    const mixed = join('id;name\n1;S\ufffdren Kjær\n2;J', [0xf8], 'rgen\n')
    expect((await readRows(mixed)).cells).toEqual([
      ['1', 'S\ufffdren Kjær'],
      ['2', `J${undecodable}rgen`],
    ])
    const wide = encodeText('\ufeffid;name\n1;S\ufffdren \ud800x\n', 'utf-16le')
    expect((await readRows(wide, { encoding: 'utf-16le' })).cells).toEqual([['1', `S\ufffdren ${undecodable}x`]])
  })

  it.each(['windows-1252', 'windows-1250', 'windows-1257', 'iso-8859-2', 'iso-8859-15'] as const)(
    'are found in %s, which lacks some bytes',
    async (encoding) => {
      const bytes = join('id;name\n1;a', [encoding === 'windows-1257' ? 0xa1 : 0x81], 'b\n')
      expect((await readRows(bytes, { encoding })).cells).toEqual([['1', `a${undecodable}b`]])
    },
  )
})
