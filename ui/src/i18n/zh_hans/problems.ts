// Owns the Chinese sentences for problems that Rust tells, by their codes. English is Rust's own, and stands where a
// code is not here.
import type { Said } from '../problems'

export const zh_hans: Partial<Record<string, Said>> = {
  issue_empty: { message: '问题内容为空。', remedy: '请粘贴问题的文字。' },
  issue_address: {
    message: '问题只有一个网址：{address}。Magis 不会从网络读取任何内容。',
    remedy: '请粘贴问题的文字。',
  },
  no_such_file: { message: '找不到文件 {path}。', remedy: '文件可能已被移动，或不在此提交中。' },
  no_such_folder: { message: '文件夹“{path}”不存在。', remedy: '请放回该文件夹，或将仓库移出列表。' },
  not_a_repository: {
    message: '“{path}”不在任何 git 仓库中。',
    remedy: '请选择 git 仓库的文件夹，或先运行 git init 并提交一次。',
  },
  bare: {
    message: '“{path}”是裸仓库，没有工作区。',
    remedy: '请克隆它，或用 git worktree add 添加工作区后选择该文件夹。',
  },
  no_commit: { message: '“{path}”还没有任何提交。', remedy: '请先提交一次，再重新打开。' },
  watch_folders: {
    message: '仓库的文件夹多于系统允许监视的数量，改为定时查看。',
    remedy: '可用 sudo sysctl fs.inotify.max_user_watches={to} 提高上限。',
  },
  watch_programs: {
    message: '监视文件的程序已达系统上限，改为定时查看。',
    remedy: '可用 sudo sysctl fs.inotify.max_user_instances={to} 提高上限。',
  },
  watch_gone: { message: '仓库文件夹不见了，将定时查看。', remedy: '请放回该文件夹，或将仓库移出列表。' },
  watch_unread: { message: '无法读取仓库，将定时查看。', remedy: '请在其中运行 git status。' },
  permission_denied: {
    message: '没有权限访问“{path}”。',
    remedy: '请为当前用户授予读取此文件夹及其 .git 文件夹的权限。',
  },
  foreign_owner: {
    message: '“{path}”属于其他用户，git 拒绝打开。',
    remedy: '若信任它，请对此文件夹运行 git config --global --add safe.directory，或更改其所有者。',
  },
  sha256: {
    message: '“{path}”的对象以 SHA-256 命名，暂不支持。',
    remedy: '请使用以 SHA-1（git 的默认方式）命名对象的克隆。',
  },
  reftable: {
    message: '“{path}”以 reftable 保存引用，暂不支持。',
    remedy: '请在其中运行 git refs migrate --ref-format=files。',
  },
  partial_clone: {
    message: '“{path}”是部分克隆，对象需随时从远程获取，而 Magis 从不这样做。',
    remedy: '请完整克隆，或运行 git fetch --refetch --no-filter 后从其配置中移除 extensions.partialClone。',
  },
  unsupported_extension: {
    message: '“{path}”使用了无法识别的仓库扩展“{extension}”。',
    remedy: '请使用不带此扩展的克隆。',
  },
  unsupported_index: {
    message: '“{path}”的暂存区为拆分或稀疏格式，无法读取。',
    remedy: '请在其中运行 git update-index --no-split-index，或 git sparse-checkout reapply --no-sparse-index。',
  },
  not_ordinary: {
    message: '“{path}”不是普通文件（可能是管道或设备），因此未读取。',
    remedy: '请删除它，或换成普通文件。',
  },
  slow_rule: {
    message: '“{path}”中某个模式的星号过多，比较将无法结束。',
    remedy: '请减少该模式中的星号，或将其删除。',
  },
  file_too_large: { message: '“{path}”有 {bytes} 字节，超过上限 {limit}。', remedy: '请缩小此文件，或将其移出仓库。' },
  tree_too_large: {
    message: '此版本的文件树过大：{count}，上限为 {limit}。',
    remedy: '请另选版本；这样的文件树可能是为耗尽内存而制作的。',
  },
  tree_too_deep: {
    message: '此版本的文件夹嵌套超过 {limit} 层。',
    remedy: '请另选版本；git 自身的上限由 core.maxTreeDepth 设定，默认 2048。',
  },
  folders_too_deep: {
    message: '工作区的文件夹嵌套超过 {limit} 层。',
    remedy: '请将最深的文件夹上移，或让 git 忽略其所在文件夹。',
  },
  revision_not_found: {
    message: '没有名为“{revision}”的版本。',
    remedy: '请检查拼写；浅克隆可用 git fetch --unshallow 取得更早的提交。',
  },
  revision_ambiguous: { message: '“{revision}”对应多个对象。', remedy: '请给出提交编号的更多位数。' },
  revision_not_a_commit: { message: '“{revision}”不是提交。', remedy: '请给出分支、指向提交的标签或提交编号。' },
  nothing_selected: { message: '没有选中补丁的任何部分。', remedy: '请至少接受一个改动块。' },
  conflicts: {
    message: '补丁无法应用，有 {conflicts} 处冲突。',
    remedy: '请改为应用到新分支，不选这些改动块，或将文件恢复到运行的基准。',
  },
  needs_uncommitted: {
    message: '改动依赖未提交的内容，无法应用到其提交，有 {conflicts} 处冲突。',
    remedy: '请改为应用到工作区，或不选这些改动块。',
  },
  base_gone: { message: '基准提交 {revision} 已不在仓库中。', remedy: '请应用到工作区，或保存为补丁文件。' },
  branch_name: { message: '“{branch}”不是有效的分支名。', remedy: '请使用字母、数字、“-”、“_”和“/”，不含空格。' },
  branch_exists: { message: '分支“{branch}”已存在。', remedy: '请换一个名称。' },
  identity_missing: {
    message: '仓库未设置提交所需的 user.name 与 user.email。',
    remedy: '请填写姓名与邮箱，或用 git config 设置。',
  },
  reading_lost: { message: '读取 {path} 中断：{how}。', remedy: '未作任何改动；请运行 git fsck。' },
  foreign_work_tree: { message: '{path} 的文件在 {elsewhere}。', remedy: '请打开那个文件夹。' },
  programs_undecided: {
    message: '仓库 {path} 指定了提交时会运行的程序：{programs}。',
    remedy: '请查看后决定运行还是不运行，此决定会为该仓库记住。',
  },
  changed_since: { message: '无法撤销，以下内容已有改动：{files}。', remedy: '请手工恢复，或保留现状。' },
  data_folder_taken: {
    message: '文件夹 {path} 含有“{name}”，不是本程序的数据。',
    remedy: '请用 --data-dir 指定空文件夹或尚不存在的文件夹。',
  },
  data_folder_open: {
    message: '数据文件夹 {path} 属于他人，或他人可以写入。',
    remedy: '请将其改为仅自己可写，或用 --data-dir 指定其他文件夹。',
  },
  locked: { message: '数据库 {path} 被其他程序锁定。', remedy: '请关闭正在使用它的程序后重试。' },
  full: { message: '{path} 所在磁盘已满，未写入任何内容。', remedy: '请腾出空间；运行会从最后一步继续。' },
  newer_schema: {
    message: '数据库 {path} 的格式为 {found}，此版本最高支持 {known}。',
    remedy: '请更新 Magis，或选择其他数据文件夹。',
  },
  not_ours: { message: '{path} 是其他程序的数据库。', remedy: '请选择其他数据文件夹。' },
  no_write_ahead_log: { message: '数据库 {path} 所在磁盘不支持预写日志。', remedy: '请将数据文件夹放在本地磁盘上。' },
  no_run: { message: '没有编号为 {run} 的运行。', remedy: '它可能已被删除；请重新载入列表。' },
  no_repository: { message: '运行 {run} 的仓库不在列表中。', remedy: '请添加它所属的仓库，或将补丁保存为文件。' },
  test_command_empty: { message: '测试命令为空。', remedy: '请给出程序及其参数。' },
  test_command_quote: { message: '测试命令“{line}”中有未闭合的引号。', remedy: '请将引号闭合。' },
  test_command_lines: { message: '测试命令“{line}”中有控制字符。', remedy: '请写成一行。' },
  test_command_no_program: { message: '测试命令“{line}”只设置了变量。', remedy: '请在变量之后写上程序。' },
  which_repository: {
    message: '尚未指明导入的运行 {run} 对应哪个仓库；含有其基准的有：{repositories}。',
    remedy: '请在审阅中选择仓库，或将补丁保存为文件。',
  },
  other_repository: {
    message: '运行 {run} 不能归属于 {path} 的仓库。',
    remedy: '请选择它所属的仓库，或将补丁保存为文件。',
  },
  repository_gone: {
    message: '运行 {run} 的仓库已不在 {path}。',
    remedy: '请放回该文件夹，从新位置添加仓库，或将补丁保存为文件。',
  },
  run_active: { message: '运行 {run} 正由另一个进程（{process}）处理。', remedy: '请先在那里停止它，或等它结束。' },
  run_over: { message: '运行 {run} 已结束。', remedy: '请从某个阶段重新运行。' },
  no_patch: { message: '运行 {run} 没有补丁。', remedy: '请在运行页面查看它如何结束。' },
  not_run: { message: '没有运行：{why}。', remedy: '在开始运行的地方允许测试命令，或自行运行该脚本。' },
  not_run_no_check: { message: '没有运行：运行 {run} 没有这项检查。', remedy: '请选择此运行已有的检查。' },
  not_run_no_base: { message: '没有运行：本机没有运行 {run} 的基准文件树。', remedy: '请将其基准提交取回到仓库中。' },
  not_run_check_gone: {
    message: '没有运行：从问题中已得不到这项检查。',
    remedy: '请自行运行该脚本，或为此问题开始新的运行，检查会重新生成。',
  },
  not_run_project_test: {
    message: '没有运行：项目的测试要在项目中修改。',
    remedy: '请按原样运行；需要别的测试时，请在项目中修改，再开始新的运行。',
  },
  not_run_tests: { message: '没有运行：{why}。', remedy: '请自行运行这些测试。' },
  not_run_not_asked: {
    message: '没有运行：运行 {run} 被要求不运行任何代码。',
    remedy: '请开始新的运行，并允许运行测试。',
  },
  not_run_only_command: {
    message: '没有运行：本机无法隔离，而不加隔离时只允许了测试命令。',
    remedy: '请收回此许可，再重新允许，两者便都可运行。',
  },
  not_run_no_sandbox: { message: '没有运行：此程序启动时没有沙箱。', remedy: '请重新启动程序，或自行运行该脚本。' },
  not_applied: { message: '运行 {run} 的补丁没有应用，或已经撤销。', remedy: '无需撤销。' },
  broken_off_stands: { message: '程序此前中断，运行 {run} 的补丁已全部应用。', remedy: '可在其审阅中撤销。' },
  broken_off_taken_back: {
    message: '程序在应用或撤销运行 {run} 的补丁时中断，该补丁现在没有应用。',
    remedy: '可在其审阅中重新应用。',
  },
  broken_off_kept: {
    message: '程序在应用或撤销运行 {run} 的补丁时中断，该补丁现在没有应用；此后改动过的文件保持原样：{paths}。',
    remedy: '请查看这些文件；其原来的内容在运行的基准文件树中。',
  },
  broken_off_open: {
    message: '程序此前中断，运行 {run} 的补丁可能只应用了一部分：{why}。',
    remedy: '下次启动时会再次尝试撤销。',
  },
  log_damaged: { message: '运行 {run} 的记录无法读取。', remedy: '请导出此运行并反馈；其他运行不受影响。' },
  model_missing: { message: '本机没有模型 {model}。', remedy: '请在“模型”中下载，或另选模型。' },
  hub_name: { message: '这不是模型中心的名称。', remedy: '请写成 hf:OWNER/REPO，或 hf:OWNER/REPO:FILE。' },
  hub_address: { message: 'HF_ENDPOINT 不是可以询问的地址。', remedy: '它须是 https 地址。' },
  hub_silent: { message: '{url} 没有应答：{reason}。', remedy: '请检查网络连接。' },
  hub_closed: {
    message: '模型中心不向所有人显示仓库 {repo}：它不存在，或需要账号。',
    remedy: '请查看其页面，如有条款请接受，并在启动 Magis 时通过变量 HF_TOKEN 提供令牌。',
  },
  hub_closed_to_token: {
    message: '模型中心不向 HF_TOKEN 的账号显示仓库 {repo}：它不存在，或尚未接受其条款。',
    remedy: '请用该账号查看其页面。',
  },
  hub_refused: { message: '{url} 应答的状态为 {status}。', remedy: '请稍后再试。' },
  hub_answer: { message: '{url} 的应答无法使用：{what}。', remedy: null },
  hub_no_model: { message: '{repo} 中没有 GGUF 文件。', remedy: '请找名称以 -GGUF 结尾的仓库。' },
  hub_no_such_file: { message: '{repo} 中没有模型文件 {file}。', remedy: '可只写仓库的名称，列出其中的文件。' },
  hub_parts_missing: { message: '{repo} 中 {file} 的分卷不全。', remedy: '请选择其他文件。' },
  hub_no_hash: { message: '模型中心没有给出 {repo} 中 {file} 的校验值，无法校验。', remedy: '请选择其他文件。' },
  engine_address: { message: '这不是引擎的地址。', remedy: '请写成 http://HOST:PORT 或 https://HOST:PORT。' },
  engine_public: { message: '{host} 是公网地址。', remedy: '提示词只能发往本机或你自己的网络。' },
  engine_plain: { message: '{host} 须用 https。', remedy: 'http 仅用于本机和你自己网络中的地址。' },
  engine_key: { message: '密钥应为一行可见的 ASCII 字符。', remedy: null },
  engine_keyring: {
    message: '无法使用系统的钥匙串：{why}。',
    remedy: '请在启动 Magis 时通过变量 MAGIS_ENGINE_KEY 提供密钥。',
  },
  engine_used: { message: '提示词发往 {host}，模型为 {model}。', remedy: null },
  other_engine: {
    message: '模型 {model} 由 {host} 的引擎提供，而当前没有使用该引擎。',
    remedy: '若允许提示词发往该处，请在设置中指定它，或另选模型重新运行。',
  },
  too_little_memory: {
    message: '模型 {model} 需要 {need} 内存，可占用 {available}。',
    remedy: '请关闭其他程序、在设置中放宽内存上限，或改用较小的模型。',
  },
  nothing_remembered: { message: '还没有 {path} 的摘要。', remedy: '运行读到此文件时会为它写摘要。' },
  summary_empty: { message: '摘要不能为空。', remedy: '请写明此文件的用途，或移除摘要。' },
  no_report: { message: '还没有可保存的报告。', remedy: '请先查看报告。' },
  not_confirmed: { message: '未清除任何内容。', remedy: '请输入确认用的词。' },
  database_fine: { message: '数据库完好。', remedy: null },
  memory_available: { message: '可用内存 {available}。', remedy: null },
  memory_unknown: { message: '系统未报告可用内存。', remedy: null },
  model_fine: { message: '模型 {model} 完整，内存足够。', remedy: null },
  model_smaller: { message: '内存只够模型 {model} 使用 {context} 个词元的上下文。', remedy: null },
  repository_fine: { message: '仓库 {name} 可以读取。', remedy: null },
  cancelled: { message: '已取消。', remedy: null },
}
