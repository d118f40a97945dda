import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Menu,
  Paper,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import {
  IconArrowDown,
  IconArrowUp,
  IconCopy,
  IconGripVertical,
  IconPlus,
  IconTrash,
  type TablerIcon,
} from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { isMissing } from '../../parts/content-languages'
import { loadWords, words } from '../../words'
import { blockIcons } from './block-fields'
import { BlockForm } from './block-form'
import {
  type Block,
  type BlockType,
  blockTypes,
  columnBlockTypes,
  copyBlock,
  createBlock,
  hasFault,
  listBlockTexts,
  moveItem,
  summarise,
} from './blocks'
import { ConditionField } from './condition-field'
import { type BlockListProps, useEditing } from './editing'

const t = await loadWords('emailMessages')

const focusLater = (id: string) => requestAnimationFrame(() => document.getElementById(id)?.focus())

/** A list of blocks that are added, moved by buttons, keys and the mouse, copied, and deleted with undo. */
export function BlockList({ blocks, path, isInColumn = false, onChange }: BlockListProps) {
  const { faults } = useEditing()
  const listId = useId()
  const [openId, setOpenId] = useState<string | null>(null)
  const [deleted, setDeleted] = useState<{ block: Block; index: number } | null>(null)
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  const [news, setNews] = useState('')
  const insert = (block: Block, index: number) => {
    onChange(blocks.toSpliced(index, 0, block))
    setOpenId(block.id)
    focusLater(`${block.id}-open`)
  }
  const move = (from: number, to: number, button?: 'up' | 'down') => {
    if (to < 0 || to >= blocks.length || from === to) return
    onChange(moveItem(blocks, from, to))
    setNews(`${t.movedTo} ${to + 1}/${blocks.length}`)
    const id = blocks[from]?.id
    // A button at the end of its way is disabled and cannot be focused.
    if (button) focusLater(to === 0 || to === blocks.length - 1 ? `${id}-open` : `${id}-${button}`)
  }
  const remove = (index: number) => {
    const block = blocks[index]
    if (!block) return
    setDeleted({ block, index })
    onChange(blocks.toSpliced(index, 1))
    focusLater(`${listId}-undo`)
  }
  const undo = deleted && (
    <Group key="undo" gap="xs" px="sm" py={4} role="status">
      <Text size="sm" c="dimmed">
        {t.deleted}: {t.blockTypes[deleted.block.type]}
      </Text>
      <Button
        id={`${listId}-undo`}
        variant="subtle"
        size="compact-sm"
        onClick={() => {
          onChange(blocks.toSpliced(deleted.index, 0, deleted.block))
          setDeleted(null)
          focusLater(`${deleted.block.id}-open`)
        }}
      >
        {t.undo}
      </Button>
    </Group>
  )
  return (
    <Stack gap={6}>
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
      {blocks.flatMap((block, index) => [
        deleted?.index === index ? undo : null,
        <BlockCard
          key={block.id}
          block={block}
          path={`${path}.${index}`}
          place={{ index, count: blocks.length }}
          isOpen={openId === block.id || (openId === null && hasFault(faults, `${path}.${index}`))}
          dropSide={drag?.to === index && drag.from !== index ? (drag.from < index ? 'below' : 'above') : null}
          toggle={() => setOpenId(openId === block.id ? '' : block.id)}
          change={(next) => onChange(blocks.with(index, next))}
          move={(by, button) => move(index, index + by, button)}
          copy={() => insert(copyBlock(block), index + 1)}
          remove={() => remove(index)}
          onDrag={(phase) => {
            if (phase === 'start') setDrag({ from: index, to: index })
            else if (phase === 'over' && drag) setDrag({ ...drag, to: index })
            else if (phase === 'drop' && drag) move(drag.from, index)
            if (phase === 'drop' || phase === 'end') setDrag(null)
          }}
          isDragging={drag !== null}
        />,
      ])}
      {deleted && deleted.index >= blocks.length && undo}
      <AddBlock
        types={isInColumn ? columnBlockTypes : blockTypes}
        isEmpty={blocks.length === 0}
        add={(type) => insert(createBlock(type), blocks.length)}
      />
    </Stack>
  )
}

interface AddProps {
  types: readonly BlockType[]
  isEmpty: boolean
  add: (type: BlockType) => void
}

const AddBlock = ({ types, isEmpty, add }: AddProps) => (
  <Menu position="bottom-start" shadow="md">
    <Menu.Target>
      <Button
        variant={isEmpty ? 'light' : 'default'}
        size="xs"
        w="fit-content"
        leftSection={<IconPlus size={14} aria-hidden />}
      >
        {isEmpty ? t.addFirst : t.addBlock}
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      {types.map((type) => {
        const Icon = blockIcons[type]
        return (
          <Menu.Item key={type} leftSection={<Icon size={16} aria-hidden />} onClick={() => add(type)}>
            {t.blockTypes[type]}
          </Menu.Item>
        )
      })}
    </Menu.Dropdown>
  </Menu>
)

interface CardProps {
  block: Block
  path: string
  place: { index: number; count: number }
  isOpen: boolean
  isDragging: boolean
  dropSide: 'above' | 'below' | null
  toggle: () => void
  change: (block: Block) => void
  move: (by: 1 | -1, button?: 'up' | 'down') => void
  copy: () => void
  remove: () => void
  onDrag: (phase: 'start' | 'over' | 'drop' | 'end') => void
}

function BlockCard(props: CardProps) {
  const { block, path, isOpen, isDragging, dropSide, change, move, onDrag } = props
  return (
    <Paper
      withBorder
      className={dropSide === null ? undefined : `drop-${dropSide}`}
      role="group"
      aria-label={`${t.blockTypes[block.type]} ${props.place.index + 1}`}
      onDragOver={(event) => {
        if (!isDragging) return
        event.preventDefault()
        event.stopPropagation()
        onDrag('over')
      }}
      onDrop={(event) => {
        event.preventDefault()
        event.stopPropagation()
        onDrag('drop')
      }}
    >
      <Group
        gap={4}
        wrap="nowrap"
        px={6}
        py={4}
        onKeyDown={(event) => {
          if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
          event.preventDefault()
          event.stopPropagation()
          move(event.key === 'ArrowUp' ? -1 : 1)
          focusLater(`${block.id}-open`)
        }}
      >
        <span
          className="grip"
          draggable
          title={t.drag}
          onDragStart={(event) => {
            event.stopPropagation()
            event.dataTransfer.effectAllowed = 'move'
            event.dataTransfer.setData('text/plain', '')
            onDrag('start')
          }}
          onDragEnd={() => onDrag('end')}
        >
          <IconGripVertical size={16} aria-hidden />
        </span>
        <CardTitle {...props} />
        <CardActions {...props} />
      </Group>
      {isOpen && (
        <Stack gap="xs" px="sm" pb="sm">
          <BlockForm block={block} path={`${path}.data`} onChange={(data) => change({ ...block, data })} />
          {block.type !== 'footer' && block.type !== 'order_summary' && (
            <ConditionField
              condition={block.condition}
              path={`${path}.condition`}
              onChange={(condition) => change({ ...block, condition })}
            />
          )}
        </Stack>
      )}
    </Paper>
  )
}

function CardTitle({ block, path, isOpen, toggle }: CardProps) {
  const { faults, languages } = useEditing()
  const Icon = blockIcons[block.type]
  const texts = listBlockTexts(block)
  const missing = languages.filter((language) => texts.some((one) => isMissing(one, language)))
  return (
    <UnstyledButton id={`${block.id}-open`} flex={1} miw={0} onClick={toggle} aria-expanded={isOpen}>
      <Group gap="xs" wrap="nowrap">
        <Icon size={16} aria-hidden className="fixed" />
        <Text size="sm" fw={600} className="nowrap">
          {t.blockTypes[block.type]}
        </Text>
        <Text size="sm" c="dimmed" truncate flex={1}>
          {isOpen ? '' : summarise(block, languages[0] ?? 'en')}
        </Text>
        {block.condition && <Mark color="blue.6" label={t.forSome} />}
        {missing.length > 0 && <Mark color="yellow.6" label={t.missing} />}
        {hasFault(faults, path) && <Mark color="red.6" label={t.faulty} />}
      </Group>
    </UnstyledButton>
  )
}

const Mark = ({ color, label }: { color: string; label: ReactNode }) => (
  <Badge component="span" variant="dot" color={color} tt="none" fw={500} size="sm" miw="max-content">
    {label}
  </Badge>
)

function CardActions({ block, place: { index, count }, move, copy, remove }: CardProps) {
  return (
    <Group gap={0} wrap="nowrap">
      <IconAction
        id={`${block.id}-up`}
        icon={IconArrowUp}
        label={t.up}
        off={index === 0}
        press={() => move(-1, 'up')}
      />
      <IconAction
        id={`${block.id}-down`}
        icon={IconArrowDown}
        label={t.down}
        off={index === count - 1}
        press={() => move(1, 'down')}
      />
      <IconAction icon={IconCopy} label={t.duplicateBlock} press={copy} />
      <IconAction icon={IconTrash} label={words.common.delete} press={remove} />
    </Group>
  )
}

interface ActionProps {
  id?: string
  icon: TablerIcon
  label: string
  off?: boolean
  press: () => void
}

const IconAction = ({ id, icon: Icon, label, off = false, press }: ActionProps) => (
  <Tooltip label={label}>
    <ActionIcon id={id} variant="subtle" color="gray" size="md" aria-label={label} disabled={off} onClick={press}>
      <Icon size={16} />
    </ActionIcon>
  </Tooltip>
)
