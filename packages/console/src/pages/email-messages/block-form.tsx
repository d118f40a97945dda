import {
  ActionIcon,
  Button,
  Collapse,
  ColorInput,
  Group,
  Input,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
} from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { Texts } from '../../parts/content-languages'
import { ImageField } from '../../parts/image-field'
import { loadWords, words } from '../../words'
import { blockFields, type Field, type LookField, networks } from './block-fields'
import { type Block, type Column, hasFault } from './blocks'
import { useEditing } from './editing'
import { LineField, TextsField } from './text-fields'

const t = await loadWords('emailMessages')

interface FormProps {
  block: Block
  /** The path of the block's data in the draft. */
  path: string
  onChange: (data: Block['data']) => void
}

/** The fields of a block. Those of its appearance show on demand. */
export function BlockForm({ block, path, onChange }: FormProps) {
  const { faults } = useEditing()
  const looks = blockFields[block.type].filter(({ isLook }) => isLook)
  const [showsLooks, setShowsLooks] = useState(looks.some(({ key }) => hasFault(faults, `${path}.${key}`)))
  const Chevron = showsLooks ? IconChevronDown : IconChevronRight
  const show = (field: Field) => (
    <FieldInput
      key={field.key}
      field={field}
      path={`${path}.${field.key}`}
      data={block.data}
      set={(part) => onChange({ ...block.data, ...part })}
    />
  )
  return (
    <Stack gap="xs">
      {blockFields[block.type].filter(({ isLook }) => !isLook).map(show)}
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        w="fit-content"
        leftSection={<Chevron size={14} aria-hidden />}
        aria-expanded={showsLooks}
        onClick={() => setShowsLooks(!showsLooks)}
      >
        {t.looks}
      </Button>
      <Collapse expanded={showsLooks}>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="xs" verticalSpacing="xs">
          {looks.map(show)}
        </SimpleGrid>
      </Collapse>
    </Stack>
  )
}

interface InputProps {
  field: Field
  path: string
  data: Block['data']
  set: (part: Block['data']) => void
}

function FieldInput({ field, path, data, set }: InputProps) {
  const { faults } = useEditing()
  const { key } = field
  const label = t.fields[field.label]
  const value = data[key]
  const error = faults[path]
  switch (field.kind) {
    case 'line':
    case 'html':
      return (
        <TextsField
          label={label}
          path={path}
          kind={field.kind}
          texts={(value ?? {}) as Texts}
          onChange={(texts) => set({ [key]: texts })}
        />
      )
    case 'address':
      return (
        <LineField
          label={label}
          value={(value ?? '') as string}
          onChange={(text) => set({ [key]: text })}
          error={error}
          placeholder="https://"
          isRequired={field.isRequired ?? false}
        />
      )
    case 'image':
      return <ImageSource data={data} set={set} path={path} />
    case 'links':
      return <SocialLinks links={value as SocialLink[]} path={path} onChange={(links) => set({ links })} />
    case 'columns':
      return <Columns columns={value as readonly Column[]} path={path} onChange={(columns) => set({ columns })} />
    case 'padding':
      return <PaddingField label={label} value={value ?? {}} onChange={(padding) => set({ padding })} />
    default:
      return <LookInput field={field} label={label} value={value} error={error} set={(next) => set({ [key]: next })} />
  }
}

interface LookProps {
  field: LookField
  label: string
  value: unknown
  error: string | undefined
  set: (value: unknown) => void
}

function LookInput({ field, label, value, error, set }: LookProps) {
  switch (field.kind) {
    case 'colour':
      return (
        <ColorInput
          label={label}
          placeholder={t.byTemplate}
          value={(value ?? '') as string}
          error={error}
          eyeDropperButtonProps={{ 'aria-label': t.pickColour }}
          onChange={(next) => set(next === '' ? undefined : next)}
        />
      )
    case 'switch':
      return (
        <Switch
          label={label}
          checked={(value ?? field.isOnByDefault) as boolean}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      )
    case 'size':
      return (
        <NumberInput
          label={label}
          placeholder={t.byTemplate}
          min={field.min}
          max={field.max}
          suffix={` ${field.unit}`}
          allowDecimal={false}
          clampBehavior="blur"
          value={(value ?? '') as number}
          error={error}
          onChange={(next) => set(typeof next === 'number' ? next : undefined)}
        />
      )
    case 'choice':
      return (
        <Select
          label={label}
          placeholder={t.byTemplate}
          clearable
          value={typeof value === 'string' || typeof value === 'number' ? String(value) : null}
          data={field.options.map((option) => ({
            value: String(option),
            label: (t.choices as Record<string, string>)[option] ?? String(option),
          }))}
          error={error}
          onChange={(next) => set(field.options.find((option) => String(option) === next))}
        />
      )
  }
}

/** An image of the organisation's files, or one at an address. */
function ImageSource({ data, set, path }: { data: Block['data']; set: (part: Block['data']) => void; path: string }) {
  const { organization, edition, faults } = useEditing()
  const file = (data['file_id'] ?? null) as string | null
  return (
    <Stack gap="xs">
      <ImageField
        label={t.fields.image}
        organization={organization}
        edition={edition}
        value={file}
        onChange={(id) => set({ file_id: id ?? undefined, url: '' })}
        error={faults[path]}
      />
      {file === null && (
        <LineField
          label={t.imageAddress}
          value={(data['url'] ?? '') as string}
          onChange={(url) => set({ url })}
          error={faults[path.replace(/file_id$/, 'url')]}
          placeholder="https://"
        />
      )}
    </Stack>
  )
}

interface SocialLink {
  network: (typeof networks)[number]
  url: string
}

interface SocialProps {
  links: readonly SocialLink[]
  path: string
  onChange: (links: SocialLink[]) => void
}

function SocialLinks({ links, path, onChange }: SocialProps) {
  const { faults } = useEditing()
  return (
    <Stack gap="xs">
      {links.map((link, index) => (
        <Group key={index} gap="xs" align="end" wrap="nowrap">
          <Select
            label={index === 0 ? t.network : undefined}
            aria-label={t.network}
            w={130}
            allowDeselect={false}
            value={link.network}
            data={networks.map((network) => ({ value: network, label: t.networks[network] }))}
            onChange={(network) => onChange(links.with(index, { ...link, network: network ?? 'website' }))}
          />
          <Input.Wrapper flex={1}>
            <LineField
              label={index === 0 ? t.address : ''}
              value={link.url}
              placeholder="https://"
              error={faults[`${path}.${index}.url`]}
              onChange={(url) => onChange(links.with(index, { ...link, url }))}
            />
          </Input.Wrapper>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            disabled={links.length === 1}
            aria-label={`${words.common.remove}: ${t.networks[link.network]}`}
            onClick={() => onChange(links.toSpliced(index, 1))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {links.length < 12 && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...links, { network: 'website', url: '' }])}
        >
          {t.addLink}
        </Button>
      )}
    </Stack>
  )
}

interface ColumnsProps {
  columns: readonly Column[]
  path: string
  onChange: (columns: Column[]) => void
}

const maxColumns = 4

/** Columns with blocks of their own. */
function Columns({ columns, path, onChange }: ColumnsProps) {
  const { faults, showBlocks } = useEditing()
  return (
    <Stack gap="xs">
      {columns.map((column, index) => (
        <Stack key={index} gap="xs" className="column" role="group" aria-label={`${t.column} ${index + 1}`}>
          <Group gap="xs" justify="space-between" align="end">
            <NumberInput
              label={`${t.column} ${index + 1} · ${t.fields.width}`}
              placeholder={t.equalWidth}
              size="xs"
              w={170}
              min={5}
              max={95}
              suffix=" %"
              allowDecimal={false}
              clampBehavior="blur"
              value={column.width ?? ''}
              error={faults[`${path}.${index}.width`]}
              onChange={(width) =>
                onChange(columns.with(index, { ...column, width: typeof width === 'number' ? width : undefined }))
              }
            />
            {columns.length > 2 && (
              <Button
                variant="subtle"
                color="gray"
                size="compact-sm"
                onClick={() => onChange(columns.toSpliced(index, 1))}
              >
                {t.removeColumn}
              </Button>
            )}
          </Group>
          {showBlocks({
            blocks: column.blocks,
            path: `${path}.${index}.blocks`,
            isInColumn: true,
            onChange: (blocks) => onChange(columns.with(index, { ...column, blocks })),
          })}
        </Stack>
      ))}
      {columns.length < maxColumns && (
        <Button variant="default" size="xs" w="fit-content" onClick={() => onChange([...columns, { blocks: [] }])}>
          {t.addColumn}
        </Button>
      )}
      {faults[path] && <Input.Error role="alert">{faults[path]}</Input.Error>}
    </Stack>
  )
}

type Side = 'top' | 'right' | 'bottom' | 'left'
type Padding = Partial<Record<Side, number>>

interface PaddingProps {
  label: string
  value: Padding
  onChange: (padding: Padding | undefined) => void
}

function PaddingField({ label, value, onChange }: PaddingProps) {
  const set = (side: Side, size: unknown) => {
    const { [side]: _, ...others } = value
    const next = typeof size === 'number' ? { ...others, [side]: size } : others
    onChange(Object.keys(next).length === 0 ? undefined : next)
  }
  return (
    <Input.Wrapper label={label} labelElement="div">
      <Group gap={4} wrap="nowrap" role="group" aria-label={label}>
        {(['top', 'right', 'bottom', 'left'] as const).map((side) => (
          <NumberInput
            key={side}
            aria-label={`${label}: ${t.sides[side]}`}
            placeholder={t.sides[side]}
            hideControls
            min={0}
            max={120}
            allowDecimal={false}
            clampBehavior="blur"
            value={value[side] ?? ''}
            onChange={(size) => set(side, size)}
          />
        ))}
      </Group>
    </Input.Wrapper>
  )
}
